# Sums the instructions of callgrind's dumps by the part of the program that executed them.
#
#   awk -f callgrind-parts.awk rows=a,b,c DUMP...
#
# The dumps come in the order in which they were written. One that benchmark_counting_ends triggered belongs to the row that
# benchmark_row_ends ends. Prints ROW, PART and INSTRUCTIONS, separated by tabs; the part "all" is the sum.

function part_of(object, name) {
  if (object ~ /libsqlite3/) return "SQLite"
  if (object ~ /libFoundation|lib_Foundation/) return "Foundation"
  if (object ~ /libswift_Concurrency|libdispatch/) return "tasks and queues"
  if (object ~ /libswiftCore/) {
    if (name ~ /[rR]etain|[rR]elease|RefCount|bridgeObject|isUniquelyReferenced/) return "reference counts"
    if (name ~ /beginAccess|endAccess|exclusivity/) return "exclusivity"
    if (name ~ /allocObject|deallocClassInstance|deallocObject|slowAlloc|slowDealloc|initStackObject/) return "allocation"
    if (name ~ /[mM]etadata|[cC]onformance|dynamicCast|getTypeBy|WitnessTable/) return "types at run time"
    return "standard library"
  }
  if (object ~ /libc\.so|libc-|libm\.so|ld-linux|libpthread/) {
    if (name ~ /^_?_?(int_)?(malloc|free|calloc|realloc)|malloc|_int_free|sysmalloc|unlink_chunk/) return "allocation"
    if (name ~ /mem(cpy|move|set|cmp)|str(len|cmp|chr)/) return "copying"
    return "system"
  }
  if (object ~ /benchmark$/) {
    # Symbols begin with the length and the name of their module.
    if (match(name, /[0-9]+(CDE[A-Za-z]+)/)) {
      module = substr(name, RSTART, RLENGTH)
      length_of = module
      sub(/CDE.*/, "", length_of)
      sub(/^[0-9]+/, "", module)
      return substr(module, 1, length_of + 0)
    }
    if (name ~ /9Benchmark/) return "the row itself"
    return "generic code"
  }
  return "system"
}

# The name of a line such as "fn=(12) malloc", which later lines of the dump shorten to "fn=(12)".
function named(known, id, name) {
  id = name = substr($0, index($0, "=") + 1)
  sub(/\).*/, ")", id)
  if (sub(/^\([0-9]+\) /, "", name)) known[id] = name
  return known[id]
}

function row_ended() {
  split(rows, names, ",")
  for (p in pending) if (pending[p] > 0) printf "%s\t%s\t%.0f\n", names[row], p, pending[p]
  split("", pending)
  row++
}

BEGIN { row = 1 }

FNR == 1 {
  trigger = ""
  skip = 0
  split("", objects)
  split("", functions)
}

/^desc: Trigger:/ {
  trigger = ($0 ~ /benchmark_counting_ends/) ? "part" : ($0 ~ /benchmark_row_ends/) ? "row" : "rest"
  if (trigger == "row") row_ended()
  next
}

trigger != "part" { next }

# A callee's line may be the only one that spells a name.
/^c?ob=/ {
  name = named(objects)
  if ($0 ~ /^ob=/) object = name
  next
}

/^c?fn=/ {
  name = named(functions)
  if ($0 ~ /^fn=/) part = part_of(object, name)
  next
}

/^calls=/ { skip = 1; next }

/^[0-9+*-]/ {
  if (skip) { skip = 0; next }
  pending[part] += $2
  pending["all"] += $2
}
