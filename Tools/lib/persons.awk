# Lists lines whose prose leaves open which part acts: <file>:<line>: <the word>.
# Prose is comments in Swift and text in Markdown. Literals, code and names of tests are not: they stay as they are.

BEGIN { count = split("nobody somebody whoever everybody everyone", words, " ") }

FNR == 1 { in_string = 0; in_code = 0; in_promises = 0; is_page = FILENAME ~ /\.md$/ }

function report(text, i) {
  text = " " tolower(text) " "
  gsub(/[^a-z]/, " ", text)
  for (i = 1; i <= count; i++) if (index(text, " " words[i] " ")) print FILENAME ":" FNR ": " words[i]
}

is_page {
  if (/^[ \t]*```/) { in_code = !in_code; next }
  if (in_code) next
  # The last column names tests.
  if (/^\| Promise \| Test \|$/) in_promises = 1
  if (!/^\|/) in_promises = 0
  text = $0
  if (in_promises) sub(/\|[^|]*\|[ \t]*$/, "", text)
  gsub(/`[^`]*`/, "", text)
  report(text)
  next
}

{
  text = $0
  if (text !~ /^[ \t]*\/\//) {
    was_string = in_string
    if (gsub(/"""/, "", text) % 2 == 1) in_string = !in_string
    if (was_string || in_string) next
    gsub(/"([^"\\]|\\.)*"/, "", text)
    if (!match(text, /\/\//)) next
    text = substr(text, RSTART)
  } else if (in_string) next
  report(text)
}
