# Prints the public declarations of Swift files, one a line: the name with its types, a tab, yes or no for available, a tab, and yes or
# no for open.
# Functions end with their first label: Type.function(label, Type.function(_ or Type.function( without one.
# The files have to be formatted, because members are told by their indentation.

function declare(name, isAvailable, key) {
  key = (top == "" ? "" : top ".") (nested == "" || indent < 4 ? "" : nested ".") name
  print key "\t" (isAvailable && !topAbsent && !(nested != "" && indent >= 4 && nestedAbsent) ? "yes" : "no") "\t" \
    (isOpen ? "yes" : "no")
}

# The name of a protocol whose extension adds members to a class of Foundation or of this package.
function owner(name) {
  if (name == "PredicateFormatInitializable") return "NSPredicate"
  if (name == "SortKeyInitializable") return "NSSortDescriptor"
  if (name == "_ValueTransformerLookup") return "ValueTransformer"
  if (name == "_CDManagedInitializers") return "NSManagedObject"
  return name
}

FNR == 1 { top = nested = held = ""; topAbsent = nestedAbsent = attribute = absent = conditions = 0 }
/^ *\/\// { next }
# What stands in a condition is indented once more.
/^ *#if/ { conditions++; next }
/^ *#endif/ { conditions--; next }
/^ *#/ { next }
conditions > 0 { $0 = substr($0, 2 * conditions + 1) }
# Not for applications.
/^ *@_spi/ { next }
held != "" { line = $0; sub(/^ +/, "", line); $0 = held line; held = "" }
/^ +nonisolated\(nonsending\)$/ { held = $0 " "; sub(/nonisolated\(nonsending\) $/, "", held); next }
/^(  |    )?@available\(/ { attribute = 1 }
attribute && /unavailable/ { absent = 1 }
{
  match($0, /^ */)
  indent = RLENGTH
  text = substr($0, indent + 1)
  while (match(text, /^@[A-Za-z_]+(\([^)]*\))? /)) text = substr(text, RLENGTH + 1)
}
indent == 0 && text ~ /^}/ { top = ""; topAbsent = 0; next }
indent == 2 && text ~ /^}/ { nested = ""; nestedAbsent = 0; next }
indent > 4 || (indent == 4 && nested == "") { next }
{
  isPublic = text ~ /(^| )(public|open) /
  isOpen = text ~ /^(nonisolated )?open /
  while (match(text, /^(nonisolated(\(unsafe\))?|public|open|final|indirect|static|class|override|convenience|required|private\(set\)|internal\(set\)|weak|mutating|unowned) /)) {
    # A class, not a class member.
    if (text ~ /^class [A-Za-z_.]+[ :<({]/ && text !~ /^class (func|var|let|override|subscript) /) break
    text = substr(text, RLENGTH + 1)
  }
}
text ~ /^extension / {
  split(text, words, /[ :<{]+/)
  top = text ~ /\{\}$/ ? "" : owner(words[2])
  topAbsent = 0
  attribute = absent = 0
  next
}
text ~ /^(class|struct|enum|protocol) / && isPublic {
  split(text, words, /[ :<{]+/)
  declare(words[2], !absent)
  if (text !~ /\{\}$/) {
    if (indent == 0) { top = words[2]; topAbsent = absent; inProtocol = words[1] == "protocol" }
    else { nested = words[2]; nestedAbsent = absent }
  }
  attribute = absent = 0
  next
}
text ~ /^(class|struct|enum|protocol|actor) / && indent == 0 { top = "_"; next }
text ~ /^case [A-Za-z_`]/ && text !~ /:$/ {
  list = substr(text, 6)
  gsub(/ = [^,]*/, "", list)
  gsub(/\([^)]*\)/, "", list)
  n = split(list, names, /, */)
  for (i = 1; i <= n; i++) { gsub(/`/, "", names[i]); declare(names[i], !absent) }
  attribute = absent = 0
  next
}
text ~ /^(var|let|typealias) / && (isPublic || inProtocol) {
  split(text, words, /[ :={]+/)
  declare(words[2], !absent)
  attribute = absent = 0
  next
}
text ~ /^(func|init)/ && (isPublic || inProtocol) {
  name = text
  sub(/^func /, "", name)
  if (name ~ /\($/) { getline following; sub(/^ +/, "", following); name = name following }
  label = name
  sub(/^[^(]*\(/, "", label)
  sub(/[ :)].*$/, "", label)
  sub(/[<(?!].*$/, "", name)
  declare(name "(" label, !absent)
  attribute = absent = 0
  next
}
