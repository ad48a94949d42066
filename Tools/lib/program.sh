# Builds a program of the repository and runs it in the caller's folder. Sourced after common.sh.

source "$ROOT/Tools/lib/sqlite.sh"

# run_program PACKAGE PRODUCT ARGUMENT...: replaces the shell with the program, built for release.
run_program() { run_built "$1" "$2" "" "${@:3}"; }

# run_program_with_trait PACKAGE PRODUCT TRAIT ARGUMENT...: the same with a trait of the package, which has a build folder of its own.
run_program_with_trait() { run_built "$@"; }

run_built() {
  local package=$1 product=$2 trait=$3 options=()
  shift 3
  need_swift
  ensure_sqlite
  options=(--package-path "$package" -c release)
  if [ -n "$trait" ]; then
    options+=(--traits "$trait" --scratch-path "$package/.build-$trait")
  elif [ -n "${CDE_PROGRAM_SCRATCH:-}" ]; then
    # Packages with one build folder compile the library once. The package manager would carry out the plan that it made for another
    # of them.
    options+=(--scratch-path "$CDE_PROGRAM_SCRATCH" "${DEBUG_INFO[@]}" --disable-build-manifest-caching)
  fi
  # What the build says is not the program's output.
  swift build "${options[@]}" --product "$product" >&2 || die "$product does not build."
  exec "$(swift build "${options[@]}" --show-bin-path)/$product" "$@"
}
