#ifndef CDE_SQLITE_SHIM_H
#define CDE_SQLITE_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#include <sys/vfs.h>
#endif

// Swift can't call C functions with variable arguments.
static inline int cde_sqlite3_db_config_flag(sqlite3 *db, int option, int on) {
  int state = 0;
  return sqlite3_db_config(db, option, on, &state);
}

// Keeps a virtual table out of the triggers and views of files.
static inline int cde_sqlite3_vtab_direct_only(sqlite3 *db) { return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY); }

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

// Whether another process has the lock of a log's writer: byte 120 of the log's index, as
// https://sqlite.org/walformat.html lays it out. The descriptor is one of the index. Locks of this process are not seen.
static inline int cde_log_is_locked_by_others(int descriptor) {
  struct flock lock = {0};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 120;
  lock.l_len = 1;
  return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Whether an open file is the one at a path.
static inline int cde_is_at(int file, const char *path) {
  struct stat open_file, named_file;
  return fstat(file, &open_file) == 0 && stat(path, &named_file) == 0 && open_file.st_dev == named_file.st_dev &&
         open_file.st_ino == named_file.st_ino;
}

static inline int cde_open_for_looking(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

// Events of files that change. Linux reports those of its own processes; elsewhere there are none.
static inline int cde_watch_open(void) {
#ifdef __linux__
  return inotify_init1(IN_CLOEXEC);
#else
  errno = ENOSYS;
  return -1;
#endif
}

// A number for the watched file or folder (of which new and changed files count), the same for the same file; -1 with the system's error number.
static inline int cde_watch_add(int watch, const char *path) {
#ifdef __linux__
  return inotify_add_watch(watch, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO);
#else
  errno = ENOSYS;
  return -1;
#endif
}

static inline void cde_watch_remove(int watch, int number) {
#ifdef __linux__
  inotify_rm_watch(watch, number);
#endif
}

// Waits for events and gives the numbers of their files; -1 at the end. Equal neighbours are given once.
static inline int cde_watch_read(int watch, int *numbers, int capacity) {
#ifdef __linux__
  _Alignas(struct inotify_event) char buffer[4096];
  ssize_t length;
  do { length = read(watch, buffer, sizeof buffer); } while (length < 0 && errno == EINTR);
  if (length <= 0) return -1;
  int count = 0;
  for (char *next = buffer; next < buffer + length;) {
    struct inotify_event *event = (struct inotify_event *)next;
    // Number -1 says that events were lost: any file may have changed.
    if (count < capacity && (count == 0 || numbers[count - 1] != event->wd)) numbers[count++] = event->wd;
    next += sizeof(struct inotify_event) + event->len;
  }
  return count;
#else
  return -1;
#endif
}

// Whether a file is in a file system whose other machines cause no events here.
static inline int cde_is_in_remote_file_system(const char *path) {
#ifdef __linux__
  struct statfs found;
  if (statfs(path, &found) != 0) return 0;
  switch ((uint32_t)found.f_type) {
  case 0x6969: case 0x517B: case 0xFF534D42: case 0xFE534D42: case 0x01021997: case 0x65735546: return 1;
  default: return 0;
  }
#else
  return 0;
#endif
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
