# Prints the rows of SwiftData's table that the interface tests or the sources contradict.
# Input: the output of symbols.awk, the interface tests under other names, and the table last.
#
# Tests name a symbol by its type: Type.member, \Type.member, @Macro, #Macro, isProtocol(Type.self), and an operator in brackets as
# the value of a function type. They compile, so a symbol that they name has the shape that they annotate.

function trim(text) { gsub(/^ +| +$/, "", text); return text }

function quoted(text) { gsub(/[][(){}.*+?|^$\\]/, "\\\\&", text); return text }

function isNamed(pattern) { return tests ~ ("(^|[^A-Za-z0-9_.])" pattern "($|[^A-Za-z0-9_])") }

# Whether the tests use a symbol of a type under one of its names.
function isUsed(names, symbol, list, n, i, base, owner) {
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
      if (owner == "" && allText ~ ("(^|[^A-Za-z0-9_.])" symbol "($|[^A-Za-z0-9_])")) return 1
      if (isNamed("\\\\?" (owner == "" ? "" : owner "\\.") quoted(base))) return 1
    }
  }
  return 0
}

BEGIN { FS = "\t" }
FILENAME == "-" { if ($2 == "yes") usable[$1] = 1; next }
FILENAME ~ /\.swift$/ {
  if (/^ *\/\//) next
  allText = allText " " $0
  # Names of generic types are compared without their arguments, and a declaration may go on in the next line.
  while (gsub(/[A-Za-z]<[^<>]*>/, "&\001")) {
    while (match($0, /<[^<>]*>\001/)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
  }
  gsub(/\001/, "")
  sub(/^ +/, "")
  tests = tests (tests ~ /\($/ ? "" : " ") $0
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
  where = FILENAME ":" FNR ": " type (type == "" || symbol ~ /^:/ ? "" : ".") symbol
  key = (type == "" ? "" : type ".") symbol
  if (key ~ /\(/) { sub(/:.*$/, "", key); sub(/\)$/, "", key) }
  if (state !~ /^(same|differs|absent)$/) print where " is \"" state "\", which is none of same, differs and absent"
  else if (seen[type, symbol]++) print where " stands here a second time"
  else if (state == "absent" && (key in usable)) print where " is declared, but the table says that it is absent"
  else if (state != "absent" && !isUsed(names, symbol)) print where " is " state " in the table, but no interface test uses it"
  if (state != "same" && trim(cells[3]) == "") print where " is " state " without a sentence that says how, or where it stands"
}
