# Finds what switches the compiler's concurrency checking off without naming its guard, in a comment
# on the same line, on the lines directly below or on the lines directly above.
# Output: <file>:<line>: <the line's text>

function report() {
  if (pending != "") print pending
  pending = ""
}

FNR == 1 { report(); in_string = 0; comment = ""; previous = "" }

{
  code = $0
  was_string = in_string
  marks = gsub(/"""/, "\"\"\"", code)
  if (marks % 2 == 1) in_string = !in_string
  if (was_string) { previous = $0; next }
  gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
  note = ""
  if (match(code, /\/\/.*/)) { note = substr(code, RSTART); code = substr(code, 1, RSTART - 1) }
  sub(/^[ \t]+/, "", code)
  sub(/[ \t]+$/, "", code)

  if (pending != "" && (code == "" || code == "{") && note ~ /[Gg]uard/) pending = ""
  # A comment goes on until the next line of code; a brace alone on its line still belongs to the header.
  if (pending != "" && code != "" && code != "{") report()

  if (code ~ /@unchecked[ \t]+Sendable|nonisolated\(unsafe\)/) {
    # An unavailable conformance forbids sending; it opens nothing.
    if (note !~ /[Gg]uard/ && comment !~ /[Gg]uard/ && previous !~ /unavailable/) {
      text = $0
      sub(/^[ \t]+/, "", text)
      pending = FILENAME ":" FNR ": " text
    }
  }
  if (code == "" && note != "") comment = comment note
  else comment = ""
  previous = $0
}

END { report() }
