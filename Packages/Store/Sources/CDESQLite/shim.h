#ifndef CDE_SQLITE_SHIM_H
#define CDE_SQLITE_SHIM_H

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

// Swift can't call C functions with variable arguments.
static inline int cde_sqlite3_db_config_flag(sqlite3 *db, int option, int on) {
  int state = 0;
  return sqlite3_db_config(db, option, on, &state);
}

// Counting memory takes one lock for the process, for which a reader and a writer that allocate pages would
// wait in turn. And a reader gives all its pages back after every commit: the first of them then come from one
// block for each connection, half a megabyte, instead of from the allocator one by one.
// Refused, without effect, once SQLite has been used in this process.
static inline int cde_sqlite3_configure_process(void) {
  int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 128) : code;
}

// The header of the write-ahead log's index, as https://sqlite.org/walformat.html lays it out: 48 bytes that
// every commit changes, in memory shared by all connections. NULL when there is none.
static inline const volatile uint32_t *cde_wal_index_header(sqlite3 *db) {
  sqlite3_file *file = 0;
  void volatile *region = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK) return 0;
  return (const volatile uint32_t *)region;
}

typedef struct {
  uint32_t words[12];
} cde_wal_header;

static inline cde_wal_header cde_read_wal_header(const volatile uint32_t *region) {
  cde_wal_header header;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (int i = 0; i < 12; i++) header.words[i] = region[i];
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return header;
}

static inline int cde_same_wal_header(const volatile uint32_t *region, const cde_wal_header *header) {
  int same = 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (int i = 0; i < 12; i++) same &= region[i] == header->words[i];
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return same;
}

static inline int cde_equal_wal_headers(const cde_wal_header *one, const cde_wal_header *other) {
  int same = 1;
  for (int i = 0; i < 12; i++) same &= one->words[i] == other->words[i];
  return same;
}

// Which file a path leads to.
typedef struct {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  // When the content changed last: seconds and nanoseconds since 1970.
  int64_t seconds;
  int64_t nanoseconds;
} cde_file_status;

// 0, or the system's error number.
static inline int cde_file_status_at(const char *path, cde_file_status *status) {
  struct stat found;
  if (stat(path, &found) != 0) return errno;
  status->device = (uint64_t)found.st_dev;
  status->inode = (uint64_t)found.st_ino;
  status->size = (int64_t)found.st_size;
#ifdef __APPLE__
  status->seconds = (int64_t)found.st_mtimespec.tv_sec;
  status->nanoseconds = (int64_t)found.st_mtimespec.tv_nsec;
#else
  status->seconds = (int64_t)found.st_mtim.tv_sec;
  status->nanoseconds = (int64_t)found.st_mtim.tv_nsec;
#endif
  return 0;
}

// Whether the main file still is where it was opened; -1 where the file system can't tell.
static inline int cde_sqlite3_file_has_moved(sqlite3 *db) {
  int moved = 0;
  return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK ? moved : -1;
}

// For file systems that fail on purpose: what the system would have said.
static inline void cde_set_system_error(int number) { errno = number; }

// How many files the process may have open at once.
static inline uint64_t cde_open_file_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

// Swift does not import macros that compute.
static const int CDE_SQLITE_READONLY_DBMOVED = SQLITE_READONLY_DBMOVED;
static const int CDE_SQLITE_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE;
static const int CDE_SQLITE_CONSTRAINT_PRIMARYKEY = SQLITE_CONSTRAINT_PRIMARYKEY;

#endif
