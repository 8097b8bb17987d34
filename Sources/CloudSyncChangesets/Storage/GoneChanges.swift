import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What is kept of commits whose changes were removed: who made them, and what was said of them.
struct GoneChanges {
  let connection: HistoryConnection

  /// The table is made by the first removal.
  private func isThere() throws(ChangesetError) -> Bool {
    try connection.hasTable("changesets_gone")
  }

  /// Keeps what stands at the beginning of a body, which goes.
  func keepPreamble(row: LogRow, body: [UInt8]) throws(ChangesetError) {
    let count = try reading("commit \(row.id.short)") { () throws(ByteFault) in
      var reader = ByteReader(body)
      var header = CommitHeader(
        kind: row.kind,
        schema: SchemaID(row.id.digest),
        parents: [],
        generation: row.generation,
        time: row.time,
        branch: "",
        stateHash: row.stateHash
      )
      try CommitReader.preamble(reader: &reader, header: &header)
      return body.count - reader.remaining
    }
    if try isThere() == false {
      try connection.execute(
        "CREATE TABLE main.changesets_gone(seq INTEGER PRIMARY KEY, preamble BLOB NOT NULL)"
      )
    }
    try connection.run(
      "REPLACE INTO changesets_gone VALUES(?1, ?2)",
      .integer(row.seq),
      .blob(Array(body[..<count]))
    )
  }

  /// What was kept of a commit; nil if it has its changes.
  func preamble(seq: Int64) throws(ChangesetError) -> [UInt8]? {
    guard try isThere() else { return nil }
    return try connection.row(
      "SELECT preamble FROM changesets_gone WHERE seq = ?1",
      .integer(seq)
    ) { $0.bytes(0) }
  }

  /// Gives a commit its changes back, which came from the cloud again.
  func bringBack(body: [UInt8], of seq: Int64) throws(ChangesetError) {
    try connection.run(
      // What stands at the beginning of a squashed history has its whole state for changes.
      "UPDATE changesets_log SET body = ?2 WHERE seq = ?1 AND body IS NULL AND (parent IS NOT NULL OR generation = 1)",
      .integer(seq),
      .blob(body)
    )
    guard connection.sqlite.changeCount > 0, try isThere() else { return }
    try connection.run("DELETE FROM changesets_gone WHERE seq = ?1", .integer(seq))
  }

  /// Throws if a commit that the cloud has not got lacks changes that nobody has removed: whoever skipped it would lose it.
  ///
  /// - Parameters:
  ///   - seq: The number that those have which come after it.
  ///   - generation: The generation that they are above.
  /// - Throws: That there is one.
  func checkNothingIsLost(after seq: Int64, above generation: Int64) throws(ChangesetError) {
    let removed = try isThere() ? "AND seq NOT IN (SELECT seq FROM changesets_gone)" : ""
    let lost = try connection.integer(
      """
      SELECT min(seq) FROM changesets_log
      WHERE seq > ?1 AND remote = 0 AND body IS NULL AND generation > ?2 \(removed)
      """,
      .integer(seq),
      .integer(generation)
    )
    guard let lost else { return }
    let row = try CommitLog(connection: connection).row(lost)
    throw ChangesetError(
      .damaged,
      Self.loss(of: row)
        + ": restore a backup of the file, or clone the history from the cloud, which lacks this commit"
    )
  }

  /// What is said of a commit that has lost its changes to nobody who was to remove them.
  static func loss(of row: LogRow) -> String {
    "the changes of commit \(row.id.short) are missing, and “gc” has not removed them"
  }

  func forget() throws(ChangesetError) {
    guard try isThere() else { return }
    try connection.run("DELETE FROM changesets_gone")
  }

  /// Whether a commit that the cloud has not got has lost its changes: nobody gets it from here.
  func isAnyUnsent() throws(ChangesetError) -> Bool {
    guard let horizon = try Info(connection).integer(.horizon) else { return false }
    return try connection.integer(
      """
      SELECT 1 FROM changesets_log
      WHERE seq < ?1 AND remote = 0 AND body IS NULL AND generation > ?2 LIMIT 1
      """,
      .integer(horizon),
      .integer(try Horizon(connection)?.row.generation ?? 0)
    ) != nil
  }
}
