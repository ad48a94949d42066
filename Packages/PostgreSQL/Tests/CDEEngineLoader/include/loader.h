/// Replaces the engine of SQLite stores by the one that CDE_ENGINE_UNDER_TEST names.
void cde_use_engine_under_test(void);
