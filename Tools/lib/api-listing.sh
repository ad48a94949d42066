# What Tools/api compares: listings of the public API, as text. Sourced after symbol-graphs.sh.

# Products, traits and requirements of the manifest.
list_package() {
  {
    sed -nE \
      -e 's/^\/\/ swift-tools-version: *(.*)$/swift-tools-version	\1/p' \
      -e 's/^ *\.(library|executable|plugin)\(name: "([^"]*)", targets: .*/\2	\1/p' \
      -e 's/^ *\.trait\(name: "([^"]*)".*/\1	trait/p' "$ROOT/Package.swift"
    sed -n 's/^ *platforms: \[\(.*\)\],$/\1/p' "$ROOT/Package.swift" | tr ',' '\n' |
      sed -nE 's/^ *\.([A-Za-z]+)\(\.(v[0-9]+)\)$/\1	platform \2/p'
  } | LC_ALL=C sort
}

# list_module MODULE GRAPHS [SOURCES]: the declarations of its graphs and, of its sources, what it exports again.
list_module() {
  local graph
  {
    for graph in "$2"/*.symbols.json; do awk -f "$ROOT/Tools/lib/json-lines.awk" "$graph"; done |
      awk -v module="$1" -f "$ROOT/Tools/lib/api-listing.awk"
    if [ -n "${3:-}" ]; then
      { grep -rhE --include='*.swift' '^ *@_exported ' "$3" || true; } |
        sed -nE -e 's/^ *@_exported +(public +)?import +//' \
          -e 's/^([A-Za-z]+)$/\1	exported module/p' -e 's/^([a-z]+) +([A-Za-z_.]+)$/\2	exported \1/p'
    fi
  } | LC_ALL=C sort -u | awk -F'\t' '
    # The conformances of a type share a line.
    $1 ~ /:$/ && $1 == last { printf ", %s", $2; next }
    { if (NR > 1) print ""; printf "%s", $0; last = $1 }
    END { if (NR > 0) print "" }'
}
