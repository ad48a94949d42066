# What the scripts in Tools share. Sourced, never run.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# The layers, lowest first: a layer may depend on those before it and on no other.
# Docs/Architecture.md says what each is for.
LAYERS="Macros Executors Profiling Store PostgreSQLStore Models ModelRuntime PostgreSQL ObservationDomain Databases SwiftData TestSupport CoreDataEvolution Porting"

# Stack traces need the lines. What a debugger needs beyond them takes a sixth of a debug build. Builds that share a folder have to agree.
DEBUG_INFO=(-debug-info-format none -Xswiftc -gline-tables-only)

# The build of all targets that tests and checks share. It has the trait PostgreSQL where libpq's headers are, so it is not the one that
# a plain `swift build` at the root makes.
# Packages that use the root by path find the library compiled there.
SHARED_BUILD=(--scratch-path "$ROOT/.build/tests" "${DEBUG_INFO[@]}")
if pkg-config --exists libpq 2>/dev/null; then SHARED_BUILD+=(--traits PostgreSQL); fi
ROOT_BUILD=(--package-path "$ROOT" "${SHARED_BUILD[@]}")

heading() { printf '\n== %s\n' "$*"; }

# Says what went wrong and what to do about it, and ends the script.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

need_swift() {
  command -v swift >/dev/null 2>&1 ||
    die "There is no Swift toolchain on the PATH. Install Swift 6.3 or later from https://www.swift.org/install."
}

# Every file that is in the repository or about to be (new, not ignored), one path a line, from the
# root. Arguments are git's path patterns. An unpacked archive without git lists what lies there.
repository_files() {
  if git -C "$ROOT" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -C "$ROOT" ls-files --cached --others --exclude-standard -- "$@"
  else
    local patterns=() pattern
    for pattern in "$@"; do patterns+=(-o -path "./$pattern"); done
    (cd "$ROOT" && find . \( -name '.build*' -o -name .swiftpm \) -prune -o -type f \( -false "${patterns[@]}" \) -print |
      sed 's,^\./,,')
  fi | sort -u | while IFS= read -r file; do
    # A file that was deleted but not yet committed is still listed.
    if [ -e "$ROOT/$file" ]; then printf '%s\n' "$file"; fi
  done
}
