import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Forgets the commits of a history, and keeps the rows.
struct HistoryReset {
  let work: HistoryWork

  func reset() throws(ChangesetError) {
    let connection = work.connection
    for name in ["log", "ids", "tags", "waiting", "refused", "conflicts", "answers", "fills"] {
      try connection.run("DELETE FROM changesets_\(name)")
    }
    try GoneChanges(connection: connection).forget()
    try SnapshotRoots(connection: connection).forget()
    try ZoneReports(connection: connection).forget()
    try RebasedCommits(connection: connection).forget()
    try ParkedRows(connection: connection).drop()
    try ConvertedValues.drop(connection)
    try connection.run("DELETE FROM changesets_heads WHERE number <> 0")
    try connection.run("UPDATE changesets_heads SET branch = 1, seq = NULL, is_head = 1")
    let facts: [Info.Name] = [
      .ids, .token, .zone, .account, .horizon, .seen, .reach, .pushed, .lines, .refill, .declared,
      .squashed, .reported, .strays, .wait, .formerReplicas,
    ]
    for name in facts {
      try connection.run("DELETE FROM changesets_info WHERE name = ?1", .text(name.rawValue))
    }
    // Own commits may come back from the cloud.
    try work.info.set(.forgets, .integer(1))
    for table in work.tables.tables {
      try connection.run("DELETE FROM \(table.mirror)")
      // Since the empty database every row is new.
      let keys = table.key.indices.map { "k\($0)" }.joined(separator: ", ")
      let columns = table.key.map(\.quotedName).joined(separator: ", ")
      try connection.run(
        "INSERT INTO \(table.mirror)(\(keys), was) SELECT \(columns), 0 FROM \(table.name.quotedName)"
      )
    }
  }
}
