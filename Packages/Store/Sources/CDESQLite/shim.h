#ifndef CDE_SQLITE_SHIM_H
#define CDE_SQLITE_SHIM_H

#include <sqlite3.h>

// Swift can't call C functions with variable arguments.
static inline int cde_sqlite3_db_config_flag(sqlite3 *db, int option, int on) {
  int state = 0;
  return sqlite3_db_config(db, option, on, &state);
}

// Swift does not import macros that compute.
static const int CDE_SQLITE_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE;

#endif
