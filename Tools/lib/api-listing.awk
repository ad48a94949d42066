# Lists the public declarations of one module, one a line: the name, a tab, the declaration. A name is the path in the
# module: Type.member(label:). Superclasses and conformances are "Type:", a tab, and a name with its conditions, each on a
# line of its own. Input: the module's symbol graphs as json-lines.awk prints them, one after the other. -v module=NAME.
#
# Left out is what a caller can't tell: names of parameters behind their labels, whether a property is stored, and overrides,
# because the superclass has the member. Kept of the synthesized members are those of protocols with an underscore: they have
# no other place.

function unescaped(text) {
  gsub(/\\\//, "/", text)
  gsub(/\\"/, "\"", text)
  gsub(/\\[nt] */, " ", text)
  gsub(/\\\\/, "\\", text)
  return text
}

# The conditions of an extension or a conformance, " [where A : B, C == D]", without those that the compiler infers.
function conditions(of,   i, text) {
  for (i = 0; i < conditionCount[of]; i++)
    if (!inferred(right[of, i]))
      text = text (text == "" ? "" : ", ") left[of, i] (relation[of, i] == "sameType" ? " == " : " : ") right[of, i]
  return text == "" ? "" : " [where " text "]"
}

function inferred(protocol) { return protocol ~ /^(Copyable|Escapable|SendableMetatype)$/ }

function declaration(s,   i, kind, before, space, text) {
  for (i = 0; i < fragments[s]; i++) {
    kind = fragmentKind[s, i]
    if (kind == "text" && spelling[s, i] == " " && before == "externalParam") { space = " "; continue }
    if (kind == "internalParam") text = text (before == "externalParam" ? "" : "_")
    else text = text space spelling[s, i]
    space = ""
    before = kind
  }
  return unescaped(text)
}

function list(s,   name, text) {
  name = path[s]
  if (kindOf[s] == "swift.extension" || ("." name) ~ /\._/) return
  if (id[s] ~ /::SYNTHESIZED::/ && id[s] !~ ("^s:" length(module) module "[0-9]+_")) return
  if (overrides[s] && kindOf[s] != "swift.init") return
  text = declaration(s)
  if (!(id[s] in requirement)) {
    sub(/ \{ get set \}$/, "", text)
    if (text ~ / \{ get \}$/) sub(/^weak /, "", text)
  }
  if (access[s] == "open") text = "open " text
  if (deprecated[s]) text = "@available(*, deprecated) " text
  if (id[s] in requirement) text = "requirement " text
  print unescaped(name) "\t" text unescaped(conditions(s))
}

function conformance(r,   type, other) {
  type = pathOf[source[r]]
  other = (r in fallback) ? fallback[r] : module "." pathOf[target[r]]
  sub(/^[^.]*\./, "", other)
  if (type == "" || other == "" || ("." type "." other) ~ /\._/) return
  if (inferred(other)) return
  print unescaped(type ":\t" other conditions(r))
}

BEGIN { FS = "\t" }

$1 == "metadata/formatVersion/major" { graph++; next }

{
  n = split($1, p, "/")
  value = substr($0, length($1) + 2)
  at = graph "/" p[1] "/" p[2]
}

p[1] == "symbols" && n == 4 && p[3] == "kind" && p[4] == "identifier" { symbols[++symbolCount] = at; kindOf[at] = value }
p[1] == "symbols" && n == 4 && p[3] == "identifier" && p[4] == "precise" { id[at] = value }
p[1] == "symbols" && p[3] == "pathComponents" { path[at] = (p[4] == 0 ? "" : path[at] ".") value; pathOf[id[at]] = path[at] }
p[1] == "symbols" && p[3] == "accessLevel" { access[at] = value }
p[1] == "symbols" && p[3] == "availability" && p[5] == "isUnconditionallyDeprecated" { deprecated[at] = 1 }
p[1] == "symbols" && p[3] == "declarationFragments" && p[5] == "kind" { fragmentKind[at, p[4]] = value }
p[1] == "symbols" && p[3] == "declarationFragments" && p[5] == "spelling" {
  spelling[at, p[4]] = value
  fragments[at] = p[4] + 1
  if (value == "override") overrides[at] = 1
}
(p[1] == "symbols" && p[3] == "swiftExtension" && p[4] == "constraints") || (p[1] == "relationships" && p[3] == "swiftConstraints") {
  i = p[n - 1]
  if (i >= conditionCount[at] + 0) conditionCount[at] = i + 1
  if (p[n] == "kind") relation[at, i] = value
  if (p[n] == "lhs") left[at, i] = value
  if (p[n] == "rhs") right[at, i] = value
}

p[1] == "relationships" && n == 3 {
  if (p[3] == "kind") { relationships[++relationshipCount] = at; relationshipKind[at] = value }
  if (p[3] == "source") source[at] = value
  if (p[3] == "target") target[at] = value
  if (p[3] == "targetFallback") fallback[at] = value
}

END {
  for (i = 1; i <= relationshipCount; i++)
    if (relationshipKind[relationships[i]] == "requirementOf") requirement[source[relationships[i]]] = 1
  for (i = 1; i <= symbolCount; i++) list(symbols[i])
  for (i = 1; i <= relationshipCount; i++)
    if (relationshipKind[relationships[i]] ~ /^(conformsTo|inheritsFrom)$/) conformance(relationships[i])
}
