#ifndef SYSTEM_SQLITE_SHIM_H
#define SYSTEM_SQLITE_SHIM_H

#include <sqlite3.h>

#endif
