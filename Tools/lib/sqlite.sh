# Finds SQLite's header and library, or installs them. Sourced after common.sh.

# Compiles and links a program of one call, which is the only proof that counts on every system.
sqlite_is_installed() {
  local compiler program status=0
  compiler=$(command -v clang || command -v cc || command -v gcc) || return 1
  program=$(mktemp)
  printf '#include <sqlite3.h>\nint main(void) { return sqlite3_libversion_number() == 0; }\n' |
    "$compiler" -x c - -o "$program" -lsqlite3 >/dev/null 2>&1 || status=1
  rm -f "$program"
  return $status
}

# Makes sure that SQLite's development package is there. Nothing is fetched when it is.
ensure_sqlite() {
  if sqlite_is_installed; then return 0; fi

  local install
  if command -v apt-get >/dev/null 2>&1; then
    install="apt-get install -y --no-install-recommends libsqlite3-dev"
  elif command -v dnf >/dev/null 2>&1; then
    install="dnf install -y sqlite-devel"
  elif command -v yum >/dev/null 2>&1; then
    install="yum install -y sqlite-devel"
  elif command -v apk >/dev/null 2>&1; then
    install="apk add sqlite-dev"
  else
    die "SQLite's header and library are missing, and so is a known package manager (apt, dnf, apk)." \
      "Install SQLite's development package; it provides sqlite3.h."
  fi

  if [ "$(id -u)" != 0 ]; then
    case $install in
    apt-get*) install="sh -c 'apt-get update && $install'" ;;
    esac
    die "SQLite's development package is missing. Run this once, then try again:

    sudo $install"
  fi

  echo "Installing SQLite's development package: $install" >&2
  export DEBIAN_FRONTEND=noninteractive
  case $install in
  # A fresh image has no package lists; a used one may be without network but with the package.
  apt-get*) $install >/dev/null 2>&1 || { apt-get update && $install; } ;;
  *) $install ;;
  esac >&2 || die "The installation failed: $install"

  sqlite_is_installed || die "SQLite's development package was installed, yet a program that includes sqlite3.h does not link."
}
