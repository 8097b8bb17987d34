import CloudSyncLocalCloud

/// The tables of a store, in the first schema of the connection's search path.
///
/// ```
/// cloudsync_store(version)                        one row: which form the others have
/// cloudsync_documents(key, body)                  small values by key, as in a SQLite store
/// cloudsync_items(zone, position, name, body)     records and tombstones, in the order of the feed
/// cloudsync_links(zone, target, source)           the record `source` is deleted together with `target`
/// cloudsync_tokens(hash, account, device, created, expires, revoked)
///                                                 tokens of access by SHA-256; times in milliseconds
/// ```
///
/// Keys, names and bodies are `bytea`: compared byte by byte whatever the database's collation, and free to
/// have NUL in them. The branch of the history is in the document of the counters, as in every store.
enum PostgresSchema {
  /// Version 1 had no marks in accounts; it is read, and becomes version 2.
  static let version: Int64 = 2

  /// Asks the catalog as a table: what `to_regclass` knows may be older than a lock that was waited for.
  private static let find = PostgresStatement(
    "",
    """
    SELECT NOT EXISTS (
      SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relname = 'cloudsync_store' AND nspname = current_schema()
    )
    """
  )
  private static let readVersion = PostgresStatement("", "SELECT version FROM cloudsync_store")
  private static let raiseVersion = PostgresStatement(
    "",
    "UPDATE cloudsync_store SET version = 2 WHERE version = 1"
  )
  private static let tables: [PostgresStatement] = [
    PostgresStatement("", "CREATE TABLE cloudsync_store(version bigint NOT NULL)"),
    PostgresStatement("", "INSERT INTO cloudsync_store VALUES (2)"),
    PostgresStatement(
      "",
      "CREATE TABLE cloudsync_documents(key bytea PRIMARY KEY, body bytea NOT NULL)"
    ),
    PostgresStatement(
      "",
      """
      CREATE TABLE cloudsync_items(
        zone bigint NOT NULL, position bigint NOT NULL, name bytea NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (zone, position), UNIQUE (zone, name)
      )
      """
    ),
    PostgresStatement(
      "",
      """
      CREATE TABLE cloudsync_links(
        zone bigint NOT NULL, target bytea NOT NULL, source bytea NOT NULL,
        PRIMARY KEY (zone, target, source)
      )
      """
    ),
    PostgresStatement(
      "",
      """
      CREATE TABLE cloudsync_tokens(
        hash bytea PRIMARY KEY, account bytea NOT NULL, device bytea NOT NULL,
        created bigint NOT NULL, expires bigint, revoked bigint
      )
      """
    ),
  ]

  /// Makes the tables where they are missing, and checks that they are of a known version.
  static func prepare(_ connection: PostgresConnection) throws(LocalCloudStoreError) {
    do throws(PostgresFailure) {
      if try isMissing(connection) { try create(connection) }
    } catch { throw error.settingUp }
    let rows: [PostgresRows]
    do throws(PostgresFailure) {
      rows = try connection.run([PostgresCall(readVersion)])
    } catch { throw error.settingUp }
    guard rows[0].count == 1 else {
      throw LocalCloudStoreError(
        .damaged,
        "the table cloudsync_store has \(rows[0].count) rows instead of one; restore a backup"
      )
    }
    let found = rows[0].integer(row: 0, column: 0)
    guard (1...version).contains(found) else {
      throw LocalCloudStoreError(
        .unknownVersion,
        "the tables have version \(found), and this program knows versions up to \(version); update it"
      )
    }
    guard found < version else { return }
    do throws(PostgresFailure) { _ = try connection.run([PostgresCall(raiseVersion)]) } catch {
      throw error.settingUp
    }
  }

  private static func isMissing(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    try connection.run([PostgresCall(find)])[0].bytes(row: 0, column: 0) == [1]
  }

  /// Creates the tables, unless another process does so at the same time.
  private static func create(_ connection: PostgresConnection) throws(PostgresFailure) {
    let lock = PostgresLocks.setUp.call(in: connection.namespace).unprepared
    _ = try connection.run([PostgresCall(.beginWriting).unprepared, lock])
    do throws(PostgresFailure) {
      if try isMissing(connection) {
        _ = try connection.run(tables.map { PostgresCall($0) })
      }
      _ = try connection.run([PostgresCall(.commit).unprepared])
    } catch {
      if !connection.isBroken { _ = try connection.run([PostgresCall(.rollback).unprepared]) }
      throw error
    }
  }
}

extension PostgresFailure {
  /// What the failure means while the tables are made or checked.
  fileprivate var settingUp: LocalCloudStoreError {
    switch self {
    case .refused("42P07", let message):
      LocalCloudStoreError(
        .foreign,
        "\(message), but the table cloudsync_store is missing: the tables are of something else; "
          + "name another database, or another schema by search_path"
      )
    case .refused("42501", let message):
      LocalCloudStoreError(
        .cannotAccess,
        "\(message): let the role create tables once, or let their owner start the server once, and "
          + "grant SELECT, INSERT, UPDATE and DELETE on them"
      )
    case .refused("3F000", _), .refused("42P01", _):
      LocalCloudStoreError(
        .cannotAccess,
        "the schema of the search path does not exist; create it, or name another one"
      )
    default: storeError
    }
  }
}
