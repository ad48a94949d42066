// libpq's client interface, found through pkg-config.
#include <libpq-fe.h>

// Version 14 of libpq can send several statements in one round trip. An older one needs a round trip for each.
static inline int cde_enter_pipeline(PGconn *connection) {
#ifdef LIBPQ_HAS_PIPELINING
  return PQenterPipelineMode(connection);
#else
  return 0;
#endif
}

static inline int cde_sync_pipeline(PGconn *connection) {
#ifdef LIBPQ_HAS_PIPELINING
  return PQpipelineSync(connection);
#else
  return 0;
#endif
}

static inline int cde_exit_pipeline(PGconn *connection) {
#ifdef LIBPQ_HAS_PIPELINING
  return PQexitPipelineMode(connection);
#else
  return 0;
#endif
}

// Whether a result is the end of what was sent together.
static inline int cde_is_sync(const PGresult *result) {
#ifdef LIBPQ_HAS_PIPELINING
  return PQresultStatus(result) == PGRES_PIPELINE_SYNC;
#else
  return 0;
#endif
}
