// libpq's client interface, found through pkg-config.
#include <libpq-fe.h>
