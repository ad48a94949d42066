# Reports where the sources of one module break the order of its folders: <file>:<line>: <what>.
#
#   awk -v root=<the module's folder> -f folders.awk <its README> <its sources>...
#
# The README has the order: a table with the head "| folder, lowest first | ... |". A file names a type when the type's
# name stands in its code; it may name types of its own folder and of lower ones. A second table with the head
# "| file | names | because |" lists the exceptions. Files of one folder may name each other in a circle only if they
# are the files of one type: Type.swift and Type+Part.swift.

function cells_of(line, n, i) {
  n = split(line, cell, /[ ]*\|[ ]*/)
  for (i = 1; i <= n; i++) gsub(/`/, "", cell[i])
  return n
}

FNR == NR {
  if (/^\| folder, lowest first \|/) { table = "folders"; next }
  if (/^\| file \| names \| because \|/) { table = "exceptions"; next }
  if (!/^\|/) { table = ""; next }
  if (/^\|-/ || table == "") next
  cells_of($0)
  if (table == "folders") { rank[cell[2]] = ++folders; order = order " " cell[2] }
  else {
    m = split(cell[3], names, /, */)
    for (j = 1; j <= m; j++) { listed[cell[2], names[j]] = FILENAME ":" FNR; needed[cell[2], names[j]] = 0 }
  }
  next
}

FNR == 1 {
  path = substr(FILENAME, length(root) + 2)
  folder = path
  if (!sub(/\/[^\/]*$/, "", folder)) folder = "(none)"
  file[++files] = path
  name[files] = FILENAME
  place[files] = folder
  stem[files] = path
  sub(/\.swift$/, "", stem[files])
  sub(/\+.*$/, "", stem[files])
  in_string = in_comment = 0
  if (!(folder in rank)) print FILENAME ": the folder " folder " stands in no table of the README"
}

{
  text = $0
  if (in_comment) { if (!sub(/^.*\*\//, "", text)) next; in_comment = 0 }
  quotes = gsub(/"""/, "\001", text)
  if (in_string) { if (quotes % 2 == 0) next; sub(/^[^\001]*\001/, "", text); quotes-- ; in_string = 0 }
  if (quotes % 2 == 1) { sub(/\001[^\001]*$/, "", text); in_string = 1 }
  gsub(/"([^"\\]|\\.)*"/, "", text)
  sub(/\/\/.*$/, "", text)
  if (text ~ /\/\*/) { sub(/\/\*.*$/, "", text); in_comment = 1 }
  if (match(text, /^((@[A-Za-z_(),]+|public|package|internal|private|fileprivate|open|final|indirect|nonisolated|unsafe) +)*(class|struct|enum|protocol|actor|typealias) +[A-Za-z_]/)) {
    declared = substr(text, RSTART + RLENGTH - 1)
    match(declared, /^[A-Za-z_0-9]+/)
    declared = substr(declared, 1, RLENGTH)
    if (text !~ /^(private|fileprivate) / && !(declared in home)) home[declared] = files
  }
  while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
    word = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (word ~ /^_*[A-Z]/ && !((files, word) in used)) { used[files, word] = FNR; word_of[files, ++words[files]] = word }
  }
}

END {
  for (f = 1; f <= files; f++)
    for (w = 1; w <= words[f]; w++) {
      word = word_of[f, w]
      if (!(word in home) || home[word] == f) continue
      target = home[word]
      if ((file[f], word) in listed) { needed[file[f], word] = 1; continue }
      if (place[f] == place[target]) { edge[f, target] = used[f, word] " " word; next_of[f, ++outs[f]] = target }
      else if (rank[place[target]] > rank[place[f]])
        print name[f] ":" used[f, word] ": names " word " of " file[target] ", which is in a higher folder"
    }
  for (pair in needed) if (!needed[pair]) {
    split(pair, part, SUBSEP)
    print listed[pair] ": " part[1] " does not name " part[2] " any more, or may: take the line out"
  }
  # Files that reach each other: one after the other, each with a walk of its own.
  for (f = 1; f <= files; f++) {
    for (g = 1; g <= files; g++) seen[g] = 0
    top = 1; stack[1] = f
    while (top > 0) {
      at = stack[top--]
      for (i = 1; i <= outs[at]; i++) { to = next_of[at, i]; if (!seen[to]) { seen[to] = 1; stack[++top] = to } }
    }
    for (g = 1; g <= files; g++) if (seen[g]) reach[f, g] = 1
  }
  for (f = 1; f <= files; f++)
    for (i = 1; i <= outs[f]; i++) {
      g = next_of[f, i]
      if (((g, f) in reach) && stem[f] != stem[g]) {
        split(edge[f, g], part, " ")
        print name[f] ":" part[1] ": names " part[2] " of " file[g] ", which names it in turn, by a circle of files"
      }
    }
}
