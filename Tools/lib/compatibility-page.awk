# Prints the page of Core Data's symbols. Input: the table, twice; the first reading counts.

function trim(text) { gsub(/^ +| +$/, "", text); return text }

/^#( |$)/ || /^$/ { next }
FNR == NR {
  if (/^(## |@)/) next
  split($0, cells, "|")
  count[trim(cells[2])]++
  next
}
!begun {
  begun = 1
  print "# Core Data's symbols"
  print ""
  print "<!-- Tools/compatibility makes this page of Tools/lib/core-data-symbols.txt. Change the table, not the page. -->"
  print ""
  print "What Core Data has on Apple's platforms, and what sources that import `CDECoreData` find on Linux. Of the symbols below, " \
    count["same"] " are the"
  print "same, " count["differs"] " differ in what the table says, and " count["absent"] \
    " are absent. Where code names an absent one, the compiler mostly says what to"
  print "use instead. [An app's model layer on Linux](PortAnApp.md) tells how to port a code base."
  print ""
  print "A symbol is the same if its declaration is: types, optionality, parameters, and whether applications may override it. The row of a"
  print "class that can't be subclassed says so, and not those of its members. Code may call the initialisers of `NSManagedObject` on a class"
  print "that is known at run time only (`type.init(context:)`), and mostly can't do so with those of other classes."
}
/^## / { print ""; print; head = 1; type = ""; next }
/^@/ { type = trim(substr($0, 2)); next }
{
  if (head) { print ""; print "| symbol | here | how, or what instead |"; print "|---|---|---|"; head = 0 }
  split($0, cells, "|")
  note = trim(cells[3])
  print "| `" (type == "" ? "" : type ".") trim(cells[1]) "` | " trim(cells[2]) " |" (note == "" ? "" : " " note) " |"
}
