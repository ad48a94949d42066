# What one more operator, or one more type of attributes, costs: the files that name all others of its family, and the enumerations
# that are lists of kinds of values. Reads the sources of all packages; prints a line for each file of a figure that is too large.
#
#   awk -f family-sizes.awk Packages/*/Sources/**/*.swift           lines where a limit is exceeded
#   awk -v all=1 -f family-sizes.awk Packages/*/Sources/**/*.swift  every figure, with its files

BEGIN {
  limit["files that name the operators of texts"] = 6
  limit["files that name the types of attributes"] = 20
  limit["enumerations of kinds of values"] = 13
  count_words = split("undefined integer16 integer32 integer64 decimal double float string boolean date binary uuid uri " \
    "transformable objectID composite", words, " ")
  for (i = 1; i <= count_words; i++) store_type[words[i]] = 1
  count_words = split("string bool int16 int32 int64 float double decimal date data uuid url", words, " ")
  for (i = 1; i <= count_words; i++) swift_type[words[i]] = 1
  count_words = split("integer integer16 int16 integer64 int64 int double real float decimal number numeric string text boolean " \
    "bool date time timestamp data binary binarydata blob bytes uuid url uri transformable objectid reference array list dictionary " \
    "composite", words, " ")
  for (i = 1; i <= count_words; i++) kind[words[i]] = 1
}

function note(figure, what) {
  found[figure]++
  list[figure, found[figure]] = what
}

function finish_file() {
  if (file == "") return
  if (names_operator) note("files that name the operators of texts", file)
  if (defines_types || store_types >= 12 || code_types >= 12 || swift_types >= 12 || table_types >= 10)
    note("files that name the types of attributes", file)
}

# The cases of an enumeration are lines that are one level deeper than its head.
function finish_enumeration() {
  if (kinds >= 4) note("enumerations of kinds of values", file ": " enumeration)
  if (kinds >= 11) defines_types = 1
  enumeration = ""
  kinds = 0
}

FNR == 1 {
  finish_enumeration()
  finish_file()
  file = FILENAME
  defines_types = names_operator = store_types = code_types = swift_types = table_types = 0
  enumeration = ""
  kinds = 0
  delete seen
}

{
  code = $0
  sub(/\/\/.*/, "", code)
  if (code ~ /(^|[^a-zA-Z])endsWith([^a-zA-Z]|$)|"ENDSWITH"/) names_operator = 1
  rest = code
  while (match(rest, /\.[a-zA-Z][a-zA-Z0-9]*/)) {
    word = substr(rest, RSTART + 1, RLENGTH - 1)
    rest = substr(rest, RSTART + RLENGTH)
    if (word in store_type && !seen["store", word]++) store_types++
    if (word in swift_type && !seen["swift", word]++) swift_types++
    if (word ~ /AttributeType$/ && !seen["code", word]++) code_types++
  }
  rest = code
  while (match(rest, /(Bool|Int16|Int64|Double|Float|Decimal|String|Date|Data|UUID|URL)(: |\.self)/)) {
    word = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    sub(/(: |\.self)$/, "", word)
    if (!seen["table", word]++) table_types++
  }
}

enumeration != "" && code ~ "^" indent "}" { finish_enumeration() }

enumeration != "" && code ~ "^" indent "  (indirect )?case [^:]*$" {
  cases = code
  sub(/^ *(indirect )?case /, "", cases)
  gsub(/\([^)]*\)/, "", cases)
  gsub(/ = [^,]*/, "", cases)
  count_words = split(cases, words, /, */)
  for (i = 1; i <= count_words; i++) {
    word = tolower(words[i])
    gsub(/[^a-z0-9]/, "", word)
    sub(/attributetype$/, "", word)
    if (word in kind) kinds++
  }
}

code ~ /^ *([a-z@_()A-Z]+ )*enum [A-Z_a-z]+/ && code !~ /}$/ {
  finish_enumeration()
  indent = code
  sub(/[^ ].*/, "", indent)
  enumeration = code
  sub(/^.*enum /, "", enumeration)
  sub(/[^A-Za-z_].*/, "", enumeration)
  kinds = 0
}

END {
  finish_enumeration()
  finish_file()
  for (figure in limit) {
    if (!all && found[figure] <= limit[figure]) continue
    printf "%d %s, where %d are allowed\n", found[figure], figure, limit[figure]
    for (i = 1; i <= found[figure]; i++) print "  " list[figure, i]
  }
}
