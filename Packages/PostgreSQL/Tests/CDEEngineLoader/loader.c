#include "loader.h"

#include <stdlib.h>

// Runs before the first test. Tests have no common set-up.
__attribute__((constructor)) static void cde_load_engine(void) {
  if (getenv("CDE_ENGINE_UNDER_TEST")) cde_use_engine_under_test();
}
