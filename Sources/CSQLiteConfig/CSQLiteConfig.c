#include "CSQLiteConfig.h"

#include <sqlite3.h>

int cloudsync_configure_triggers(struct sqlite3 *database, int setting, int *isEnabled) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, setting, isEnabled);
}
