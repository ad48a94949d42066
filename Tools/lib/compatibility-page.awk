# Prints the page of a table of symbols. Input: the table, twice; the first reading counts. Lines with > are the page's head.

function trim(text) { gsub(/^ +| +$/, "", text); return text }

/^#( |$)/ || /^$/ { next }
FNR == NR {
  if (/^(## |@ |@$|>)/) next
  split($0, cells, "|")
  count[trim(cells[2])]++
  next
}
/^>/ {
  sub(/^> ?/, "")
  split("same differs absent", states)
  for (i in states) gsub("{" states[i] "}", count[states[i]] ? count[states[i]] : "none")
  print
  next
}
/^## / { print ""; print; head = 1; type = ""; next }
/^@( |$)/ { type = trim(substr($0, 2)); sub(/ =.*/, "", type); next }
{
  if (head) { print ""; print "| symbol | here | how, or what instead |"; print "|---|---|---|"; head = 0 }
  split($0, cells, "|")
  symbol = trim(cells[1])
  note = trim(cells[3])
  # A conformance, such as `Trip: Hashable`.
  joint = type == "" || symbol ~ /^:/ ? "" : "."
  print "| `" type joint symbol "` | " trim(cells[2]) " |" (note == "" ? "" : " " note) " |"
}
