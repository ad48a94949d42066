#ifndef CDE_SQLITE_LOG_RUN_H
#define CDE_SQLITE_LOG_RUN_H

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A commit writes each page to the log by two calls of the file: 24 bytes of header, then the page. Small pages are what most
// saves consist of, and the system's part of each call costs more than its bytes. While a commit runs, a run stands in for
// the log's file: it collects what follows each other, and writes it by one call.
//
// It wraps the open file and no file system, so it works over each: the file's table of methods is replaced by the run's, whose
// other functions are the file's own. Only the thread that commits uses the file meanwhile.
//
// What is collected is written
// - after the page that ends the transaction, which https://sqlite.org/walformat.html marks in the header before it: SQLite shows the
//   transaction to other connections as soon as that page is written;
// - before a read, a sync, and changes and questions of the size; from there on each write is passed on, because SQLite divides pages at a
//   sync;
// - before bytes that do not follow, and when there is no room.
// A write that fails drops what was collected, and the commit fails. Bytes are left at the end only if SQLite wrote pages early, within
// the commit, and then failed elsewhere. They are dropped: SQLite calls none of these functions between its failure and the end.
typedef struct {
  // First, because the file's pointer to its methods is a pointer to the run.
  sqlite3_io_methods methods;
  const sqlite3_io_methods *real;
  sqlite3_file *file;
  unsigned char *bytes;
  int capacity;
  int count;
  // Where the bytes begin in the file.
  sqlite3_int64 offset;
  // Whether the next page ends the transaction.
  int ends;
  // Whether the rest of the commit is not collected.
  int is_over;
} cde_log_run;

static inline cde_log_run *cde_log_run_of(sqlite3_file *file) { return (cde_log_run *)file->pMethods; }

static inline int cde_log_run_flush(cde_log_run *run) {
  int count = run->count;
  run->count = 0;
  return count == 0 ? SQLITE_OK : run->real->xWrite(run->file, run->bytes, count, run->offset);
}

static inline int cde_log_run_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  cde_log_run *run = cde_log_run_of(file);
  if (run->is_over) return run->real->xWrite(file, bytes, count, offset);
  if (run->count > 0 && (offset != run->offset + run->count || count > run->capacity - run->count)) {
    int code = cde_log_run_flush(run);
    if (code != SQLITE_OK) return code;
  }
  if (count > run->capacity) return run->real->xWrite(file, bytes, count, offset);
  if (run->count == 0) run->offset = offset;
  memcpy(run->bytes + run->count, bytes, (size_t)count);
  run->count += count;
  if (count == 24) {
    const unsigned char *header = (const unsigned char *)bytes;
    run->ends = (header[4] | header[5] | header[6] | header[7]) != 0;
    return SQLITE_OK;
  }
  if (!run->ends) return SQLITE_OK;
  run->ends = 0;
  return cde_log_run_flush(run);
}

// Before any other call.
static inline int cde_log_run_finish(cde_log_run *run) {
  run->is_over = 1;
  return cde_log_run_flush(run);
}

static inline int cde_log_run_close(sqlite3_file *file) {
  cde_log_run *run = cde_log_run_of(file);
  run->count = 0;
  run->file = 0;
  file->pMethods = run->real;
  return run->real->xClose(file);
}

static inline int cde_log_run_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  cde_log_run *run = cde_log_run_of(file);
  int code = cde_log_run_finish(run);
  return code != SQLITE_OK ? code : run->real->xRead(file, bytes, count, offset);
}

static inline int cde_log_run_truncate(sqlite3_file *file, sqlite3_int64 size) {
  cde_log_run *run = cde_log_run_of(file);
  int code = cde_log_run_finish(run);
  return code != SQLITE_OK ? code : run->real->xTruncate(file, size);
}

static inline int cde_log_run_sync(sqlite3_file *file, int flags) {
  cde_log_run *run = cde_log_run_of(file);
  int code = cde_log_run_finish(run);
  return code != SQLITE_OK ? code : run->real->xSync(file, flags);
}

static inline int cde_log_run_size(sqlite3_file *file, sqlite3_int64 *size) {
  cde_log_run *run = cde_log_run_of(file);
  int code = cde_log_run_finish(run);
  return code != SQLITE_OK ? code : run->real->xFileSize(file, size);
}

static inline int cde_log_run_lock(sqlite3_file *file, int level) { return cde_log_run_of(file)->real->xLock(file, level); }

static inline int cde_log_run_unlock(sqlite3_file *file, int level) { return cde_log_run_of(file)->real->xUnlock(file, level); }

static inline int cde_log_run_check_lock(sqlite3_file *file, int *is_locked) {
  return cde_log_run_of(file)->real->xCheckReservedLock(file, is_locked);
}

static inline int cde_log_run_control(sqlite3_file *file, int operation, void *argument) {
  return cde_log_run_of(file)->real->xFileControl(file, operation, argument);
}

static inline int cde_log_run_sector(sqlite3_file *file) { return cde_log_run_of(file)->real->xSectorSize(file); }

static inline int cde_log_run_characteristics(sqlite3_file *file) {
  return cde_log_run_of(file)->real->xDeviceCharacteristics(file);
}

// A run of at most so many bytes; NULL without memory.
static inline cde_log_run *cde_log_run_make(int capacity) {
  cde_log_run *run = (cde_log_run *)calloc(1, sizeof(cde_log_run));
  if (!run) return 0;
  run->bytes = (unsigned char *)malloc((size_t)capacity);
  if (!run->bytes) {
    free(run);
    return 0;
  }
  run->capacity = capacity;
  // The first version has all functions that SQLite calls for a log.
  run->methods.iVersion = 1;
  run->methods.xClose = cde_log_run_close;
  run->methods.xRead = cde_log_run_read;
  run->methods.xWrite = cde_log_run_write;
  run->methods.xTruncate = cde_log_run_truncate;
  run->methods.xSync = cde_log_run_sync;
  run->methods.xFileSize = cde_log_run_size;
  run->methods.xLock = cde_log_run_lock;
  run->methods.xUnlock = cde_log_run_unlock;
  run->methods.xCheckReservedLock = cde_log_run_check_lock;
  run->methods.xFileControl = cde_log_run_control;
  run->methods.xSectorSize = cde_log_run_sector;
  run->methods.xDeviceCharacteristics = cde_log_run_characteristics;
  return run;
}

static inline void cde_log_run_free(cde_log_run *run) {
  free(run->bytes);
  free(run);
}

// Puts a run in front of the log of a connection, which has a log, before its commit.
static inline void cde_log_run_begin(cde_log_run *run, sqlite3 *db) {
  sqlite3_file *file = 0;
  run->file = 0;
  run->count = run->ends = run->is_over = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK || !file) return;
  if (!file->pMethods || file->pMethods->xWrite == cde_log_run_write) return;
  run->file = file;
  run->real = file->pMethods;
  file->pMethods = &run->methods;
}

// Takes a run away after the commit. What is left belongs to a commit that failed.
static inline void cde_log_run_end(cde_log_run *run) {
  if (run->file) run->file->pMethods = run->real;
  run->file = 0;
  run->count = 0;
}

#endif
