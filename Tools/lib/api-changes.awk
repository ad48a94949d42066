# Prints what was removed, changed and added in a module, and appends names that the changelog lacks to a file.
#
# Input: the lines that only one of two listings has, ordered by name: "-" or "+", a tab, the name, a tab, the declaration.
# -v before=FILE -v after=FILE     the whole listings, one conformance a line
# -v names=FILE                    the changelog's code spans, each behind the title that it stands under
# -v unnamed=FILE -v counts=FILE   what is appended to: names; and numbers of removed, changed and added

function print_heading() { if (!headed++) print "\n== " module }

# A member, or a conformance, of something that was removed as a whole.
function owner(name,   base, arguments) {
  if (match(name, /: /)) { base = substr(name, 1, RSTART - 1); return (base in removed) && !(base in added) ? base : owner(base) }
  arguments = index(name, "(")
  base = arguments ? substr(name, 1, arguments - 1) : name
  while (match(base, /\.[^.]*$/)) {
    base = substr(base, 1, RSTART - 1)
    if ((base in removed) && !(base in added)) return base
  }
  return ""
}

# A name is given whole, or without the labels of its arguments.
function is_named(name, titles,   base) {
  base = name
  sub(/\(.*/, "", base)
  return (name in titles) || (base in titles)
}

function show(status, name, isMissing) {
  print_heading()
  printf "%-8s %s%s\n", status, name, isMissing ? "   (CHANGELOG.md does not name it)" : ""
  if (isMissing) print name >>unnamed
}

function show_lines(mark, lines,   parts, n, i) {
  n = split(lines, parts, "\n")
  for (i = 1; i <= n; i++) if (parts[i] != "") print "         " mark parts[i]
}

# Types that conform already lack the new requirement, unless there is a default.
function is_demand(name,   protocol) {
  if (added[name] !~ /\nrequirement / || (name in defaults)) return 0
  protocol = name
  sub(/\(.*/, "", protocol)
  sub(/\.[^.]*$/, "", protocol)
  return protocol in existed
}

BEGIN {
  FS = "\t"
  while ((getline < names) > 0) {
    all[$2] = 1
    if ($1 ~ /^(Removed|Changed|Deprecated)$/) broken[$2] = 1
  }
  while ((getline < before) > 0) existed[$1] = 1
  while ((getline < after) > 0) if ($2 !~ /^requirement / && $2 !~ / \[where /) defaults[$1] = 1
}

!($2 in seen) { seen[$2] = 1; order[++count] = $2 }
$1 == "-" { removed[$2] = removed[$2] "\n" $3 }
$1 == "+" { added[$2] = added[$2] "\n" $3 }

END {
  for (i = 1; i <= count; i++) {
    name = order[i]
    if ((name in removed) && !(name in added) && (whole = owner(name)) != "") members[whole]++
  }
  for (i = 1; i <= count; i++) {
    name = order[i]
    if (!(name in removed) || (name in added) || owner(name) != "") continue
    removals++
    show("removed", name, !is_named(name, broken))
    show_lines("", removed[name])
    if (name in members) print "         and its " members[name] " members and conformances"
  }
  for (i = 1; i <= count; i++) {
    name = order[i]
    if (!(name in removed) || !(name in added)) continue
    changes++
    show("changed", name, !is_named(name, broken))
    show_lines("- ", removed[name])
    show_lines("+ ", added[name])
  }
  for (i = 1; i <= count; i++) {
    name = order[i]
    if (name in removed) continue
    additions++
    isDemand = is_demand(name)
    show("added", name, isDemand && !is_named(name, all))
    show_lines("", added[name])
    if (isDemand) print "         a requirement without a default: types that conform must add it"
  }
  print removals + 0, changes + 0, additions + 0 >>counts
}
