# Runs tests of packages, and ends a run that hangs. Sourced after common.sh and sqlite.sh.

# The tests end processes by traps on purpose. To name the caller's line takes the whole system's bundle two seconds each time.
export CDE_CALLER_PLACE=${CDE_CALLER_PLACE:-no}

test_results=$(mktemp)
test_times=$(mktemp)

# Whether the PostgreSQL engine can be tested here.
has_postgresql() { pkg-config --exists libpq 2>/dev/null && "$ROOT/Tools/lib/postgresql" programs >/dev/null 2>&1; }

# server_folder NAME: the folder of a server of this run's own. The server's user can reach it, which a temporary folder of ours may not
# allow. It is in memory where four gigabytes are free: tests make and delete thousands of tables, and each table is several files. A
# quarter of the server's work was the file system's.
server_folder() {
  local room available
  room=$(df -Pk /dev/shm 2>/dev/null | awk '$1 == "tmpfs" { print $4 }')
  available=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null)
  if [ -w /dev/shm ] && [ "${room:-0}" -ge 4194304 ] && [ "${available:-0}" -ge 8388608 ]; then
    echo "/dev/shm/$1-$$"
  else
    echo "/tmp/$1-$$"
  fi
}

# Starts a server of this run's own, and exports its URL. `stop_postgresql` ends it.
start_postgresql() {
  export CDE_POSTGRESQL_FOLDER=${CDE_POSTGRESQL_FOLDER:-$(server_folder cde-postgresql)}
  CDE_POSTGRESQL_URL=$("$ROOT/Tools/lib/postgresql" start) || return 1
  export CDE_POSTGRESQL_URL
}

stop_postgresql() { "$ROOT/Tools/lib/postgresql" stop >/dev/null 2>&1 || true; }

# descendants PID: the processes that a process started, and theirs.
descendants() {
  ps -A -o pid=,ppid= | awk -v root="$1" '
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        up = parent[pid]
        while (up in parent && up != root) up = parent[up]
        if (up == root) print pid
      }
    }'
}

# print_stacks PID...: the stacks of all threads of processes, by the debugger that is there or can be installed.
print_stacks() {
  if ! command -v gdb >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing gdb to print the stacks."
    { apt-get install -y --no-install-recommends gdb || { apt-get update && apt-get install -y --no-install-recommends gdb; }; } \
      >/dev/null 2>&1 || true
  fi
  local pid
  for pid in "$@"; do
    printf '\n-- process %s: %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-200)"
    if command -v gdb >/dev/null 2>&1; then
      timeout 120 gdb -p "$pid" -batch -nx -ex 'set pagination off' -ex 'thread apply all backtrace 40' 2>/dev/null |
        grep -E '^(Thread|#)' || true
    else
      echo "gdb is not installed: only what each thread waits for is known."
      (cd "/proc/$pid/task" 2>/dev/null && for thread in *; do echo "thread $thread: $(cat "$thread/wchan" 2>/dev/null)"; done) || true
    fi
  done
}

# running_tests EVENTS: the tests that began and did not end, from the events that Swift Testing wrote.
running_tests() {
  awk '
    match($0, /"testID":"([^"\\]|\\.)*"/) {
      test = substr($0, RSTART + 10, RLENGTH - 11)
      gsub(/\\/, "", test)
      if (/"kind":"testStarted"/) running[test] = 1
      if (/"kind":"test(Ended|Skipped)"/) delete running[test]
    }
    END { for (test in running) if (test ~ /\(/) print "  " test }' "$1" | sort
}

# watch_tests EVENTS PID SECONDS: when the events have not grown for so long, prints the stacks of all threads and the tests that ran,
# and ends the run.
watch_tests() {
  local events=$1 run=$2 patience=$3 size=0 now still=0
  while sleep 5 && kill -0 "$run" 2>/dev/null; do
    now=$(wc -c <"$events" 2>/dev/null || echo 0)
    if [ "$now" != "$size" ]; then
      size=$now still=0
      continue
    fi
    still=$((still + 5))
    [ "$still" -ge "$patience" ] || continue
    printf '\n== No test began or ended for %s seconds. These were running:\n' "$patience"
    running_tests "$events"
    local processes
    processes="$run $(descendants "$run")"
    # shellcheck disable=SC2086
    print_stacks $processes
    printf '\n== The run is ended. Its tests that were running are listed above the stacks.\n'
    # shellcheck disable=SC2086
    kill -KILL $processes 2>/dev/null
    return
  done
}

# What tests left in a temporary folder of their own, but for what the package manager and the compiler leave, and the stores of makeTest,
# which are documented to stay until the next run.
left_by_tests() { ls -A "$1" | grep -vE '^(TemporaryDirectory\..*|_.*\.lock|swift-generated-sources|CoreDataEvolutionTestTemp)$' || true; }

# run_tests NAME PACKAGE FOLDER OPTION...: runs the tests of a package that is built, in this folder of products, one after the other, and
# keeps the line that counts them. The options are those of Swift Testing, such as --filter and --skip. The temporary folder is one of
# the run's own. Files that tests leave there are a failure.
#
# In one process tests share the threads of Swift's tasks, and one that waits or measures would depend on the others. Several processes
# share the work instead: see run_parts.
run_tests() {
  local name=$1 bundle=$3/$2PackageTests.xctest place log events status=0 run watcher printer count left
  shift 3
  heading "Tests: $name"
  place=$(mktemp -d)
  log=$place/log events=$place/events
  mkdir "$place/temporary"
  : >"$log" >"$events"
  TMPDIR=$place/temporary "$bundle" --testing-library swift-testing --no-parallel \
    --event-stream-output-path "$events" --event-stream-version 0 "$@" </dev/null >"$log" 2>&1 &
  run=$!
  watch_tests "$events" $run "${CDE_TEST_PATIENCE:-300}" &
  watcher=$!
  # Suites, failures and what the tests print; a line for each test would hide them.
  tail -n +1 -s 0.2 -f --pid=$run "$log" 2>/dev/null | grep -avE '^(◇|✔ Test "|✔ Test case|✔ Test [a-zA-Z_`]+.*\(\))' &
  printer=$!
  wait $run || status=$?
  # The watcher sleeps most of the time, in a process of its own.
  kill $(descendants $watcher) $watcher 2>/dev/null || true
  wait $watcher $printer 2>/dev/null || true
  count=$(grep -aE 'Test run with [0-9]+ test' "$log" | tail -1 || true)
  printf '%-22s %s\n' "$name" "${count:-did not get as far as running}" >>"$test_results"
  slow_tests "$events" >>"$test_times"
  # A package without a test would pass for ever, and so would one whose tests no longer run.
  printf '%s' "$count" | grep -qE 'with [1-9][0-9]* test' || status=1
  left=$(left_by_tests "$place/temporary")
  # A process that was killed had no time to remove its files.
  if [ -n "$left" ] && [ -n "$count" ]; then
    echo "error: The tests leave $(printf '%s\n' "$left" | wc -l) files in the temporary folder. Make them in ProcessFolder.url of CDESQLiteFaults:"
    printf '%s\n' "$left" | head -20
    status=1
  fi
  rm -rf "$place"
  [ $status = 0 ]
}

# slow_tests EVENTS: the seconds that each test took, and its name.
slow_tests() {
  awk '
    /"kind":"test(Started|Ended)"/ && match($0, /"testID":"([^"\\]|\\.)*"/) {
      test = substr($0, RSTART + 10, RLENGTH - 11)
      if (test !~ /\(/ || !match($0, /"absolute":[0-9.]+/)) next
      time = substr($0, RSTART + 11, RLENGTH - 11)
      sub(/\/[^\/]*$/, "", test)
      gsub(/\\/, "", test)
      if (/"kind":"testStarted"/) start[test] = time
      else if (test in start) printf "%8.1f s  %s\n", time - start[test], test
    }' "$1"
}

# The parts of the whole system's tests, a process each. Two processors are idle at the end if one part is longer than the others, so
# those of contexts are two parts. The last part waits for the server.
context_tests=("--filter ^CDEModelRuntimeTests\\.[A-M]" "--filter ^CDEModelRuntimeTests\\.[N-Z]")
whole_system_tests=(
  "${context_tests[@]}"
  "--filter ^CDE(Store|SQLiteStore|Predicates)Tests\\."
  "--skip ^CDE(ModelRuntime|Store|SQLiteStore|Predicates|PostgreSQL|PostgreSQLStore)Tests\\."
  "--filter ^CDEPostgreSQL(Store)?Tests\\."
)

# run_parts NAME PACKAGE FOLDER OPTIONS...: runs tests of a package as run_tests does, in a process for each of these options.
run_parts() {
  local name=$1 package=$2 folder=$3 status=0 part count=0 pids=() logs=() options
  shift 3
  for options in "$@"; do
    count=$((count + 1))
    logs[count]=$(mktemp)
    # shellcheck disable=SC2086
    run_tests "$name, $count of $#" "$package" "$folder" $options >"${logs[count]}" 2>&1 &
    pids[count]=$!
  done
  for part in $(seq $count); do
    wait "${pids[part]}" || status=1
    cat "${logs[part]}"
    rm -f "${logs[part]}"
  done
  return $status
}

# The tests that took longest, of all runs of this script.
print_slow_tests() {
  heading "The slowest tests"
  sort -rn "$test_times" | awk 'NR <= 15'
}
