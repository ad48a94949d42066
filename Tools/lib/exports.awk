# Prints the scoped re-exports of CDECoreData: the public declarations at the top level of the modules below it
# that have Apple's names or that rewritten sources use. Input: the Swift files of the modules.

/^ *\/\// { next }
FNR == 1 {
  split(FILENAME, parts, "/Sources/")
  split(parts[2], path, "/")
  module = path[1]
  spi = 0
  depth = 0
}
/^#if/ { depth++ }
/^#endif/ { depth-- }
depth > 0 { sub(/^  /, "") }
/^@_spi/ { spi = !/(public|open) / ; if (!spi) next; next }
/^(nonisolated |@[A-Za-z_]+(\([^)]*\))? )*(public|open) / {
  if (spi) { spi = 0; next }
  line = $0
  gsub(/@[A-Za-z_]+(\([^)]*\))? /, "", line)
  gsub(/(nonisolated(\(unsafe\))?|public|open|final|indirect) /, "", line)
  split(line, words, /[ :<({=]+/)
  kind = words[1]
  name = words[2]
  if (kind !~ /^(class|struct|enum|protocol|typealias|func|let|var)$/) next
  # Actors and macros of this package have no part in Core Data sources.
  if (name !~ /^(NS|_CD|CDPortedClasses|ValueTransformer|UndoManager)/ || name ~ /^NS(Main)?Model(Actor|Object)/) next
  # CDECoreData declares this name itself.
  if (name == "NSCompoundPredicate") next
  key = kind " " module "." name
  if (!(key in seen)) { seen[key] = 1; print "@_exported public import " key }
}
{ if ($0 !~ /^@/) spi = 0 }
