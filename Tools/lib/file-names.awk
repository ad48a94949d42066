# Finds the Swift files that are not named for what they declare or extend. Arguments: the files. The part of a name behind "+" is free.
#
# The name is that of a type, or of a free function, macro or constant; of a group, it is a plural, and at least two of the file's
# declarations contain the singular of its last word. CONTRIBUTING.md has the rule.
#
# Output: <file>: <what it lacks>, and their number at the end; nothing if all names are right.

FNR == 1 {
  judge()
  file = base = FILENAME
  sub(/^.*\//, "", base)
  sub(/\.swift$/, "", base)
  in_string = conditions = 0
  split("", names)
  split("", lowercase)
}

{
  code = $0
  was_string = in_string
  if (gsub(/"""/, "", code) % 2 == 1) in_string = !in_string
  if (was_string) next
}

# `swift format` indents what is between conditions.
code ~ /^ *#if / { conditions++; next }
code ~ /^ *#endif/ { conditions--; next }

code !~ /class|struct|enum|actor|protocol|typealias|precedencegroup|macro|extension|func|let|var/ { next }

{
  gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
  sub(/\/\/.*$/, "", code)
  gsub(/`/, "", code)

  match(code, /^ */)
  if (RLENGTH == 2 * conditions && match(code, /^([^{}=]*[^A-Za-z0-9_{}=])?(func|macro|let|var) +[A-Za-z_][A-Za-z0-9_]*/))
    declare(substr(code, 1, RLENGTH), 1)

  if (match(code, /extension +\[[^:]*\]/)) declare("Array")
  if (match(code, /extension +\[[^\]]*:/)) declare("Dictionary")
  # A protocol that a class conforms to has what could not be written in an extension of the class.
  if (match(code, /where Self: [A-Za-z_.]+/)) declare(substr(code, RSTART, RLENGTH))
  while (match(code, /(^|[^A-Za-z0-9_.])(class|struct|enum|actor|protocol|typealias|precedencegroup|extension) +[A-Za-z_][A-Za-z0-9_.]*/)) {
    # An extension of Outer.Inner may stand in a file of either.
    count = split(substr(code, RSTART, RLENGTH), parts, ".")
    code = substr(code, RSTART + RLENGTH)
    for (i = 1; i <= count; i++) declare(parts[i])
  }
}

END {
  judge()
  if (wrong) print wrong " of " files " files have another name"
}

# Notes the last word of a declaration.
function declare(text, any_case) {
  if (text ~ /macro +[^ ]+$/) lowercase["macro"]
  sub(/^.* /, "", text)
  sub(/^_+/, "", text)
  names[text]
  if (any_case) lowercase[tolower(text)]
}

function judge(   group, name, singular, members) {
  if (file == "") return
  files++
  if (base == "Exports" || base == "main") return
  group = base
  sub(/\+.*$/, "", group)
  if (group in names || tolower(group) in lowercase) return
  if (group ~ /Macros$/ && "macro" in lowercase) return
  if (group !~ /ss$/ && match(group, /[A-Z][a-z0-9]*s$/)) {
    singular = substr(group, RSTART)
    if (!sub(/ies$/, "y", singular)) sub(singular ~ /(s|x|ch|sh)es$/ ? "es$" : "s$", "", singular)
    for (name in names) if (index(toupper(substr(name, 1, 1)) substr(name, 2), singular)) members++
    if (members >= 2) return
  }
  wrong++
  print file ": nothing in it is named " group (singular == "" ? "" : ", nor do two declarations have " singular " in their names")
}
