# Lists the imports of Swift files: <file> TAB <line> TAB <module> TAB <the line's text>.
# Source inside a multi-line string or a block comment (macro tests are full of it) is no import.

FNR == 1 { in_string = 0; in_comment = 0 }

{
  was_string = in_string
  marks = gsub(/"""/, "\"\"\"")
  if (marks % 2 == 1) in_string = !in_string
  if (was_string) next
  if (in_comment) { if (/\*\//) in_comment = 0; next }
  if (/^[ \t]*\/\*/ && !/\*\//) { in_comment = 1; next }
}

/^[ \t]*((@[A-Za-z_]+(\([A-Za-z_]+\))?|public|package|internal|fileprivate|private)[ \t]+)*import[ \t]/ {
  text = $0
  sub(/^[ \t]+/, "", text)
  module = text
  sub(/^([^ \t]+[ \t]+)*import[ \t]+/, "", module)
  sub(/^(struct|class|enum|protocol|func|var|let|typealias|actor)[ \t]+/, "", module)
  sub(/[^A-Za-z0-9_].*$/, "", module)
  print FILENAME "\t" FNR "\t" module "\t" text
}
