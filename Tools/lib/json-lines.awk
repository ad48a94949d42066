# Flattens JSON: one line for each leaf, its path (keys and indexes joined by "/"), a tab, the value.
# Empty arrays and objects and null say nothing and leave no line.

function path(   i, text) {
  text = ""
  for (i = 1; i <= depth; i++) text = text (i > 1 ? "/" : "") place[i]
  return text
}

function leaf(value) {
  if (value != "null") print path() "\t" value
  expects_key = 0
}

function open(kind) {
  depth++
  kinds[depth] = kind
  place[depth] = 0
  expects_key = (kind == "{")
}

{
  rest = $0
  while (match(rest, /^[ \t]*("([^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t]+)/)) {
    token = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    sub(/^[ \t]+/, "", token)
    if (token == "{" || token == "[") open(token)
    else if (token == "}" || token == "]") { depth--; expects_key = 0 }
    else if (token == ":") expects_key = 0
    else if (token == ",") {
      if (kinds[depth] == "[") place[depth]++
      else expects_key = 1
    } else {
      if (token ~ /^"/) token = substr(token, 2, length(token) - 2)
      if (expects_key) place[depth] = token
      else leaf(token)
    }
  }
}
