# Which lines of the second engine stand in the first one as well, in runs of five or more. Arguments: first=FOLDER, files of both.
#
# Blank lines, braces alone, comments and imports do not count. Prints each run once, if together they are one line in a hundred or more.

function keep(text, file, line) {
  gsub(/^[ \t]+|[ \t]+$/, "", text)
  if (text == "" || text ~ /^[{})]+$/ || text ~ /^\/\// || text ~ /^(@[^ ]+ )?(public |internal )?import /) return
  if (index(file, first) == 1) { ours[++n] = text }
  else { other[++m] = text; place[m] = file ":" line }
}

{ keep($0, FILENAME, FNR) }

function run(list, from,   key, i) {
  for (i = 0; i < 5; i++) key = key "\n" list[from + i]
  return key
}

END {
  for (i = 1; i + 4 <= n; i++) known[run(ours, i)]
  for (i = 1; i + 4 <= m; i++)
    if (run(other, i) in known) {
      if (!(i in common)) begins[++runs] = place[i]
      for (k = 0; k < 5; k++) if (!((i + k) in common)) { common[i + k]; count++ }
    }
  if (m == 0) { print "there are no lines to compare"; exit }
  if (count * 100 < m) exit
  for (i = 1; i <= runs; i++) print begins[i] ": lines that the other engine has, too"
  printf "%d of %d lines are common\n", count, m
}
