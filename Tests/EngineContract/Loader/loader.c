#include "loader.h"

// Runs before the first test. Tests have no common set-up.
__attribute__((constructor)) static void cde_load_engine(void) { cde_use_engine_under_test(); }
