# Builds a program of the repository and runs it in the caller's folder. Sourced after common.sh.

source "$ROOT/Tools/lib/sqlite.sh"

# run_program PACKAGE PRODUCT ARGUMENT...: replaces the shell with the program, built for release.
run_program() {
  local package=$1 product=$2
  shift 2
  need_swift
  ensure_sqlite
  # What the build says is not the program's output.
  swift build --package-path "$package" -c release --product "$product" >&2 ||
    die "$product does not build."
  exec "$(swift build --package-path "$package" -c release --show-bin-path)/$product" "$@"
}
