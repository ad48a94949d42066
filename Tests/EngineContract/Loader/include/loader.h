/// Replaces the engine of SQLite stores.
void cde_use_engine_under_test(void);
