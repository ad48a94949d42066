# Prints the rows of a table that the interface tests or the sources contradict.
# Input: the output of symbols.awk, the interface tests under other names, and the table last. With `uses` only the uses are checked.
#
# Tests name a symbol by its type: Type.member, \Type.member, @Macro, #Macro, isProtocol(Type.self), and an operator in brackets as
# the value of a function type. They compile, so a symbol that they name has the shape that they annotate. A call with all labels is
# a use too, and so is an override in a subclass and a member in a type that conforms.
#
# What the sources declare as open has to be overridden. What applications override in Core Data and can't override here has a row that
# says so.

function trim(text) { gsub(/^ +| +$/, "", text); return text }

function quoted(text) { gsub(/[][(){}.*+?|^$\\]/, "\\\\&", text); return text }

# A property or a function without parameters is not meant by a function with some.
function isNamed(pattern, isPlain) {
  return tests ~ ("(^|[^A-Za-z0-9_.])" pattern (isPlain ? "($|[^A-Za-z0-9_(]|\\(\\))" : "($|[^A-Za-z0-9_])"))
}

# Whether a function is called with all its labels: Type.function(label: 1, 2) and Type(label: 1).
function isCalled(owner, symbol, labels) {
  if (owner == "" || symbol !~ /\(.+\)$/) return 0
  labels = symbol
  sub(/^[^(]*\(/, "", labels)
  sub(/\)$/, "", labels)
  gsub(/:/, ": [^:]*", labels)
  gsub(/_: /, "", labels)
  sub(/\(.*$/, "", symbol)
  return tests ~ ("(^|[^A-Za-z0-9_.])" owner (symbol == "init" ? "(\\.init)?" : "\\." symbol) "\\(" labels "\\)")
}

# Whether the tests use a symbol of a type under one of its names.
function isUsed(names, symbol, list, n, i, base, owner, isPlain) {
  n = split(names, list, /, */)
  if (n == 0) n = 1
  for (i = 1; i <= n; i++) {
    owner = quoted(list[i])
    base = symbol
    if (symbol ~ /^[@#]/) {
      sub(/\(.*$/, "", base)
      if (tests ~ (quoted(base) "($|[^A-Za-z0-9_])")) return 1
    } else if (symbol ~ /^: /) {
      base = substr(symbol, 3)
      if (tests ~ ("is" base "\\(" owner "\\.self")) return 1
      if (tests ~ ("any [^=]*" base "[^=]*\\.Type = " owner "\\.self")) return 1
    } else if (symbol ~ /^subscript/) {
      if (tests ~ /\[[^]]*, as: /) return 1
    } else if (symbol ~ /^[=~<]/) {
      if (tests ~ ("\\(" owner ", [^)]*\\) -> Bool = \\(" quoted(symbol) "\\)")) return 1
    } else {
      # A function without parameters may be named without its brackets.
      sub(/\(\)$/, "", base)
      isPlain = base !~ /[(]/ && base ~ /^[a-z]/
      if (owner == "" && allText ~ ("(^|[^A-Za-z0-9_.])" symbol "($|[^A-Za-z0-9_])")) return 1
      if (isNamed("\\\\?" (owner == "" ? "" : owner "\\.") quoted(base), isPlain && owner != "")) return 1
      if (((list[i], symbol) in implemented) || isCalled(owner, symbol)) return 1
    }
  }
  return 0
}

# A function's name with its labels, of a declaration.
function signature(text, name, parameters, depth, i, character, labels, label) {
  sub(/^(func )?/, "", text)
  name = text
  sub(/[<(].*$/, "", name)
  sub(/^[^(]*\(/, "", text)
  labels = ""
  depth = 0
  label = ""
  for (i = 1; i <= length(text); i++) {
    character = substr(text, i, 1)
    if (character ~ /[(\[<{]/) depth++
    if (character == ")" && depth == 0) break
    if (character ~ /[]})]/ || (character == ">" && substr(text, i - 1, 1) != "-")) depth--
    if (depth > 0) continue
    if (character == ",") { labels = labels firstWord(label); label = "" }
    else label = label character
  }
  if (trim(label) != "") labels = labels firstWord(label)
  return name "(" labels ")"
}

function firstWord(parameter) {
  parameter = trim(parameter)
  sub(/[ :].*$/, "", parameter)
  return parameter ":"
}

# Notes a member of a type of the tests for each type that it inherits from or conforms to.
function note(declaration, isOverride, member, list, n, i) {
  if (declaration ~ /^(func |init)/) member = signature(declaration)
  else { member = declaration; sub(/^(var|let) /, "", member); sub(/[^A-Za-z0-9_].*$/, "", member) }
  n = split(inherited, list, /, */)
  for (i = 1; i <= n; i++) {
    implemented[list[i], member] = 1
    if (isOverride) overridden[list[i], member] = 1
  }
}

function brackets(text, opening) {
  opening = gsub(/\(/, "(", text)
  return opening - gsub(/\)/, ")", text)
}

BEGIN { FS = "\t" }
FILENAME == "-" {
  if ($2 == "yes") usable[$1] = 1
  if ($2 == "yes" && $3 == "yes") open[$1] = 1
  next
}
FILENAME ~ /\.swift$/ {
  if (FNR == 1) inherited = declaration = ""
  if (/^ *\/\//) next
  allText = allText " " $0
  # Names of generic types are compared without their arguments, and a declaration may go on in the next line.
  while (gsub(/[A-Za-z]<[^<>]*>/, "&\001")) {
    while (match($0, /<[^<>]*>\001/)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
  }
  gsub(/\001/, "")
  match($0, /^ */)
  indent = RLENGTH
  sub(/^ +/, "")
  tests = tests (tests ~ /\($/ ? "" : " ") $0
  if (indent == 0 && /^[^}].*(class|struct|enum|extension) [A-Za-z_.]+: / || indent == 0 && /^(class|struct|enum|extension) [A-Za-z_.]+: /) {
    inherited = $0
    sub(/^[^:]*: /, "", inherited)
    sub(/ *\{.*$/, "", inherited)
    gsub(/@unchecked /, "", inherited)
    subclassed[inherited ~ /,/ ? substr(inherited, 1, index(inherited, ",") - 1) : inherited] = 1
    next
  }
  # The bracket of a type whose declaration takes two lines.
  if ($0 == "" || (indent == 0 && $0 == "{")) next
  if (indent == 0) { inherited = declaration = ""; next }
  if (declaration != "") declaration = declaration " " $0
  else if (indent == 2 && inherited != "" && /^([a-z]+ )*(func |var |let |init\()/) declaration = $0
  if (declaration != "" && brackets(declaration) == 0) {
    isOverride = declaration ~ /^([a-z]+ )*override /
    match(declaration, /(func |var |let |init\()/)
    note(substr(declaration, RSTART), isOverride)
    declaration = ""
  }
  next
}
/^#( |$|#)/ || /^>/ || /^$/ { next }
/^@( |$)/ {
  type = names = trim(substr($0, 2))
  sub(/ =.*/, "", type)
  if (sub(/^.*= */, "", names)) names = type ", " names
  next
}
{
  split($0, cells, "|")
  symbol = trim(cells[1])
  state = trim(cells[2])
  remark = trim(cells[3])
  where = FILENAME ":" FNR ": " type (type == "" || symbol ~ /^:/ ? "" : ".") symbol
  key = (type == "" ? "" : type ".") symbol
  if (key ~ /\(/) { sub(/:.*$/, "", key); sub(/\)$/, "", key) }
  if (state != "absent") {
    if (!isUsed(names, symbol)) print where " is " state " in the table, but no interface test uses it"
    else if (type == "" && (symbol in open) && !(symbol in subclassed) && remark !~ /subclass/) print where " is " state " in the table, but no interface test derives a class of it"
    if (type == "") remarks[symbol] = remark
    isMember = (type in open) && symbol ~ /^[a-z][^.]*$/ && symbol !~ /^init\(/ && symbol !~ /Notification$/
    isLimited = remark ~ /overrid|xtension/ || remarks[type] ~ /overrid|subclass/
    if (isMember && (key in open) && !isLimited && !((type, symbol) in overridden)) print where " is " state " in the table, but no interface test overrides it"
    if (isMember && !(key in open) && !isLimited) print where " is " state " in the table, but can't be overridden"
  }
  if (uses) next
  if (state !~ /^(same|differs|absent)$/) print where " is \"" state "\", which is none of same, differs and absent"
  else if (seen[type, symbol]++) print where " stands here a second time"
  else if (state == "absent" && (key in usable)) print where " is declared, but the table says that it is absent"
  if (state != "same" && remark == "") print where " is " state " without a sentence that says how, or where it stands"
}
