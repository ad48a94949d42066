#ifndef SYSTEM_SQLITE_SHIM_H
#define SYSTEM_SQLITE_SHIM_H

#include <sqlite3.h>

// Swift can't call C functions with variable arguments. Refused while SQLite is initialised.
static inline int benchmark_configure(int counts_memory, int pages) {
  int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, counts_memory);
  return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, pages) : code;
}

#endif
