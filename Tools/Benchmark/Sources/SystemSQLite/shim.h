#ifndef SYSTEM_SQLITE_SHIM_H
#define SYSTEM_SQLITE_SHIM_H

#include <sqlite3.h>

// Swift can't call C functions with variable arguments. Refused while SQLite is initialised.
static inline int benchmark_count_memory(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }

#endif
