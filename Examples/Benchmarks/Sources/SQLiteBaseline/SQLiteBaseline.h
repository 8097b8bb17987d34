#ifdef __linux__
// The session extension is declared only on request; Apple's module does not declare it at all.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#endif
#include <sqlite3.h>
