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

# prepare_symbol_graphs FOLDER: builds the package, and what only the trait PostgreSQL adds to it. CDE_MODULES may name a folder
# of modules that were built already, of a debug build of these sources: then only the latter is built.
# Sets `search`, the options with which the compiler finds all modules. FOLDER takes temporary files.
prepare_symbol_graphs() {
  local work=$1 modules=${CDE_MODULES:-} map option module
  if [ -z "$modules" ]; then
    ensure_sqlite
    heading "Building"
    swift build --package-path "$ROOT" || die "The package does not build; see the messages above."
    modules=$(swift build --package-path "$ROOT" --show-bin-path)/Modules
  fi
  # The toolchain's own SwiftSyntax is what the rewriting of sources uses.
  search=(
    -I "$work/trait" -I "$modules"
    -I "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/lib/swift/host"
  )
  while IFS= read -r map; do search+=(-I "$(dirname "$map")"); done < <(
    find "$ROOT"/Packages/*/Sources -name module.modulemap
  )
  mkdir -p "$work/trait"
  has_libpq || return 0
  for option in $(pkg-config --cflags-only-I libpq); do search+=("$option"); done
  # Interfaces alone: a build with the trait would compile the whole library a second time.
  for module in $(trait_modules "$work/trait-modules"); do
    emit_interface "$module" "$work/trait" -D PostgreSQL "${search[@]}" $(find "$ROOT"/Packages/*/Sources -path "*/Sources/$module/*.swift")
  done
}

# emit_interface MODULE FOLDER ARGUMENT...: compiles the declarations of sources, without the bodies of functions.
emit_interface() {
  local module=$1 folder=$2
  shift 2
  swiftc -emit-module -module-name "$module" -swift-version 6 -parse-as-library -package-name symbols \
    -Xfrontend -experimental-skip-all-function-bodies -o "$folder/$module.swiftmodule" "$@"
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
