# Writes the Swift blocks of a Markdown document to files that the package manager can build.
#
# Variables: `out`, the package's folder; `document`, the document's path from the root; `module`, a
# module name made from it. Says for each block: <kind> TAB <target or file> TAB <line> TAB <trait>.
#
#   ```swift             declarations: one file of the document's module
#   ```swift fragment    statements: the body of a function in that module. A line before the block,
#                        <!-- given: container: NSPersistentContainer -->, declares what it takes as given.
#   ```swift program     a program of its own, built and run; a ```text output block below it is
#                        what it has to print
#   ```swift manifest    a Package.swift, read by the package manager
#
# A line <!-- trait: PostgreSQL --> before a block of the first two kinds says that it needs a trait of this
# package. Such blocks of a document are a module of their own, because the others are compiled without the trait, too.

function imports(text, default,   lines, n, i, found) {
  n = split(text, lines, "\n")
  found = ""
  for (i = 1; i <= n; i++) if (lines[i] ~ /^(@[A-Za-z_()]+ )?import /) found = found lines[i] "\n"
  return found == "" && default ? "import CoreDataEvolution\n" : found
}

function without_imports(text) {
  # The lines stay, empty, so that line numbers still lead to the document.
  gsub(/(^|\n)(@[A-Za-z_()]+ )?import [A-Za-z]+/, "\n", text)
  sub(/^\n/, "", text)
  return text
}

function finish(   file, position, head, target) {
  position = "#sourceLocation(file: \"" document "\", line: " start ")\n"
  if (kind == "manifest") {
    # The address that a reader puts in; its last part is what products are looked up by.
    gsub(/<this repository>/, "https://example.org/CoreDataEvolution", block)
    file = out "/manifests/" module "-" start "/Package.swift"
    system("mkdir -p " out "/manifests/" module "-" start)
    printf "%s", block > file
    close(file)
    print "manifest\t" out "/manifests/" module "-" start "\t" start
  } else if (kind == "program") {
    program = module "_program_" start
    system("mkdir -p " out "/Sources/" program)
    file = out "/Sources/" program "/main.swift"
    printf "%s%s", position, block > file
    close(file)
    print "program\t" program "\t" start
  } else if (kind == "output") {
    if (program != "") {
      file = out "/Sources/" program ".output"
      printf "%s", block > file
      close(file)
    }
  } else {
    target = module (trait == "" ? "" : "_" trait)
    system("mkdir -p " out "/Sources/" target)
    file = out "/Sources/" target "/Block" start ".swift"
    head = imports(block, 1)
    if (kind == "fragment")
      printf "%s@MainActor func fragment_%d(%s) async throws {\n%s%s#sourceLocation()\n}\n",
        head, start, given, position, without_imports(block) > file
    else printf "%s%s%s#sourceLocation()\n", head, position, without_imports(block) > file
    close(file)
    print "library\t" target "\t" start "\t" trait
  }
}

# A line with backticks behind the fence is text that shows one.
/^[ \t]*```[^`]*$/ {
  fence = $0
  gsub(/^[ \t]*`+[ \t]*|[ \t]+$/, "", fence)
  if (kind != "") {
    finish()
    kind = ""
    given = ""
    trait = ""
  } else if (other) other = 0
  else {
    block = ""
    start = NR + 1
    if (trait != "" && fence !~ /^swift( fragment)?$/) {
      print "unknown\t" fence ", after a line that names a trait\t" NR
      trait = ""
      other = 1
    } else if (fence == "swift") kind = "declarations"
    else if (fence ~ /^swift (fragment|program|manifest)$/) { kind = fence; sub(/^swift /, "", kind) }
    else if (fence == "text output") kind = "output"
    else if (fence ~ /^swift/) { print "unknown\t" fence "\t" NR; other = 1 }
    else other = 1
    if (kind != "output" && kind != "") program = ""
  }
  next
}

kind != "" { block = block $0 "\n"; next }

/^<!-- given: .* -->$/ {
  given = $0
  sub(/^<!-- given: /, "", given)
  sub(/ -->$/, "", given)
}

/^<!-- trait: .* -->$/ {
  trait = $0
  sub(/^<!-- trait: /, "", trait)
  sub(/ -->$/, "", trait)
}
