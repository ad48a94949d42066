#ifndef CDE_SQLITE_SHIM_H
#define CDE_SQLITE_SHIM_H

#include <sqlite3.h>

#endif
