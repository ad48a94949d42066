# Prints the lines of Markdown blocks without a kind, or of the kind "text", that are Swift: <file>:<line>: <text>.
#
# A heuristic: only what begins like a declaration, an attribute, an import or a throwing call counts.

FNR == 1 { inside = plain = 0 }

# A line with backticks behind the fence is text that shows one.
/^[ \t]*```[^`]*$/ {
  inside = !inside
  plain = inside && /```(text)?[ \t]*$/
  next
}

!plain { next }

{
  line = $0
  sub(/^[ \t]+/, "", line)
  while (sub(/^(public|private|internal|open|final|static|nonisolated|override) /, "", line)) {}
}

line ~ /^import [A-Z]/ || line ~ /^@[A-Za-z_]+/ ||
line ~ /^(let|var) [A-Za-z_][A-Za-z0-9_]*( =|:)/ ||
line ~ /^func [A-Za-z_]+[(<]/ ||
line ~ /^(class|struct|enum|actor|protocol|extension) [A-Z][A-Za-z.]*( \{|:|<)/ ||
line ~ /^try[?!]? (await )?[a-z]+[.(]/ { print FILENAME ":" FNR ": " $0 }
