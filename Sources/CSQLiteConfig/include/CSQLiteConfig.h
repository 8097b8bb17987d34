#ifndef CLOUDSYNC_SQLITE_CONFIG_H
#define CLOUDSYNC_SQLITE_CONFIG_H

struct sqlite3;

/// Switches all triggers of a connection off (0) or on (1), or leaves them as they are (-1).
///
/// SQLite takes this by a function with variable arguments, which Swift cannot call.
/// - Parameters:
///   - database: The connection.
///   - setting: What to do.
///   - isEnabled: Where it is told whether triggers are on then.
/// - Returns: SQLite's code.
int cloudsync_configure_triggers(struct sqlite3 *database, int setting, int *isEnabled);

#endif
