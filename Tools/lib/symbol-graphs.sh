# The symbol graphs of the library's modules: what the compiler recorded about their public declarations.
# Sourced after common.sh.

source "$ROOT/Tools/lib/sqlite.sh"

# The products, lower ones first as the manifest lists them; the umbrella, which heads that list, comes last.
umbrella=CoreDataEvolution
library_modules() {
  sed -n 's/^ *\.library(name: "\([A-Za-z]*\)".*/\1/p' "$ROOT/Package.swift" | grep -vx "$umbrella"
  echo "$umbrella"
}

# The modules that are empty in a build without the trait.
trait_modules() {
  (cd "$ROOT" && grep -lr --include='*.swift' '^#if PostgreSQL$' Packages/*/Sources) | cut -d/ -f4 | sort -u >"$1"
  library_modules | grep -xFf "$1" || true
}

has_libpq() { pkg-config --exists libpq 2>/dev/null; }

# prepare_symbol_graphs: builds the package, with the trait PostgreSQL where libpq's headers are.
# Sets `search`, the options with which the compiler finds all modules.
prepare_symbol_graphs() {
  local map option
  ensure_sqlite
  heading "Building"
  swift build "${ROOT_BUILD[@]}" || die "The package does not build; see the messages above."
  # The toolchain's own SwiftSyntax is what the rewriting of sources uses.
  search=(
    -I "$(swift build "${ROOT_BUILD[@]}" --show-bin-path)/Modules"
    -I "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/lib/swift/host"
  )
  while IFS= read -r map; do search+=(-I "$(dirname "$map")"); done < <(
    find "$ROOT"/Packages/*/Sources -name module.modulemap
  )
  has_libpq || return 0
  for option in $(pkg-config --cflags-only-I libpq); do search+=("$option"); done
}

# extract_symbols MODULE FOLDER OPTION...: writes the graphs of a module. Left out are names that begin with an underscore
# and those for other layers alone (SPI). A line has one value, because a graph can be one line of a megabyte otherwise.
extract_symbols() {
  local module=$1 folder=$2 triple
  shift 2
  triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
  mkdir -p "$folder"
  swift symbolgraph-extract -module-name "$module" -target "$triple" "${search[@]}" -output-dir "$folder" \
    -minimum-access-level public -emit-extension-block-symbols -pretty-print "$@"
}
