# Lists the public declarations of Swift files and says which have a doc comment:
# <module> TAB <1 with a doc comment, 0 without> TAB <file>:<line>: <the line's text>.
#
# The requirements of a public protocol count as well. Not counted are the cases of an enumeration (its own comment
# explains them where their names do not), names that begin with an underscore, overrides, the members that a
# protocol of the standard library prescribes, and what no code can use: a declaration that is unavailable everywhere
# has a message that says what to write instead. A doc comment stands directly above, with nothing between but
# attributes and other comments.

FNR == 1 {
  in_string = 0
  documented = 0
  attribute = 0
  unavailable = 0
  depth = 0
  pending = ""
  module = FILENAME
  sub(/^.*\/Sources\//, "", module)
  sub(/\/.*$/, "", module)
}

function count(text, mark,   copy) {
  copy = text
  return gsub(mark, "", copy)
}

function list(text) {
  sub(/^[ \t]+/, "", text)
  print module "\t" documented "\t" FILENAME ":" FNR ": " text
}

function is_prescribed(code) {
  return code ~ /(^|[ \t])override[ \t]/ ||
    code ~ /(func|var|let|case|struct|class|enum|protocol|typealias|associatedtype|macro)[ \t]+_/ ||
    code ~ /(var|let)[ \t]+(description|debugDescription|errorDescription|failureReason|recoverySuggestion|rawValue|hashValue|startIndex|endIndex|customMirror|unownedExecutor)[ \t]*[:{]/ ||
    code ~ /func[ \t]+(==|<|hash\(|encode\(|makeIterator\(|next\(|index\(|makeAsyncIterator\(|provideScope\()/ ||
    code ~ /init\??\((rawValue|arrayLiteral|stringLiteral|integerLiteral|floatLiteral|booleanLiteral|dictionaryLiteral|nilLiteral|from decoder)[ \t:]/ ||
    code ~ /subscript\((position|index)[ \t:]/ || code ~ /typealias[ \t]+(Element|Index|RawValue|Failure)[ \t]/
}

{
  code = $0
  was_string = in_string
  if (count(code, "\"\"\"") % 2 == 1) in_string = !in_string
  if (was_string) next
  sub(/^[ \t]+/, "", code)
  if (code ~ /^\/\/\//) { documented = 1; next }
  if (code ~ /^\/\//) next
  if (code == "") { documented = unavailable = 0; next }
  gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
  sub(/\/\/.*$/, "", code)

  # A line of nothing but attributes, or the rest of one that began above.
  if (attribute > 0) {
    attribute += count(code, "\\(") - count(code, "\\)")
    if (code ~ /^\*,[ \t]*unavailable/) unavailable = 1
    if (attribute > 0 || code ~ /^[^(]*\)[ \t]*$/) next
    sub(/^[^)]*\)+[ \t]*/, "", code)
  }
  if (code ~ /^@/ && code !~ /[ \t](public|open|func|var|let|init|case|class|struct|enum|extension|import)[ \t(]/) {
    attribute = count(code, "\\(") - count(code, "\\)")
    if (code ~ /^@available\(\*,[ \t]*unavailable/) unavailable = 1
    next
  }
  if (code ~ /^#(if|else|elseif|endif)/ || code ~ /^nonisolated(\([a-z]+\))?[ \t]*$/) next

  modifiers = "(@[A-Za-z_]+(\\([^)]*\\))?|nonisolated(\\([a-z]+\\))?|final|indirect|static|class|convenience|required|mutating|nonmutating|consuming|borrowing|override|isolated|unowned|weak|lazy|dynamic|prefix|postfix|infix)[ \t]+"
  if (code ~ ("^(" modifiers ")*(public|open)(\\(set\\))?[ \t]+[a-z@]") && code !~ /(^|[ \t])import[ \t]/ && code !~ /(^|[ \t])extension[ \t]/) {
    if (!unavailable && !is_prescribed(code)) list($0)
  } else if (depth > 0 && kinds[depth] == "protocol" &&
    code ~ ("^(" modifiers ")*(func|var|init|subscript|associatedtype)[ \t(]") &&
    !is_prescribed(code)) list($0)
  documented = unavailable = 0

  if (code ~ /(^|[ \t])(public|open)[ \t]/ && code ~ /(^|[ \t])protocol[ \t]/) pending = "protocol"
  rest = code
  while (match(rest, /[{}]/)) {
    if (substr(rest, RSTART, 1) == "{") {
      kinds[++depth] = pending == "" ? "other" : pending
      pending = ""
    } else if (depth > 0) depth--
    rest = substr(rest, RSTART + 1)
  }
}
