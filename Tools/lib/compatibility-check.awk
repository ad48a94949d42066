# Prints the symbols of the table that the sources contradict. Input: the output of symbols.awk, then the table.

function trim(text) { gsub(/^ +| +$/, "", text); return text }

function isUsable(type, member) { return usable[(type == "" ? "" : type ".") member] }

BEGIN { FS = "\t" }
FILENAME == "-" { if ($2 == "yes") usable[$1] = 1; next }
/^#/ || /^>/ || /^$/ { next }
/^@/ { type = trim(substr($0, 2)); next }
{
  split($0, cells, "|")
  symbol = trim(cells[1])
  state = trim(cells[2])
  key = symbol
  # Functions are known by their first label.
  if (key ~ /\(/) { sub(/:.*$/, "", key); sub(/\)$/, "", key) }
  where = FILENAME ":" FNR ": " (type == "" ? "" : type ".") symbol
  if (state !~ /^(same|differs|absent)$/) print where " is \"" state "\", which is none of same, differs and absent"
  else if (seen[type, symbol]++) print where " stands here a second time"
  # Another function of the same first label may be there.
  else if (state == "absent" && !((type, key) in present) && isUsable(type, key)) print where " is declared, but the table says that it is absent"
  else if (state != "absent" && !isUsable(type, key)) print where " is " state " in the table, but not declared"
  if (state != "absent") present[type, key] = 1
  if (state != "same" && trim(cells[3]) == "") print where " is " state " without a sentence that says how, or what to use instead"
}
