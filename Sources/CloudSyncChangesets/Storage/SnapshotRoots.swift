import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Commits that came with a snapshot: the log has their whole state in place of their changes, and nothing before them.
struct SnapshotRoots {
  let connection: HistoryConnection

  /// What such a commit is besides.
  struct Root: Sendable {
    var seq: Int64
    /// The canonical head and body, which its identifier is the digest of.
    var head: [UInt8]
    var body: [UInt8]
    /// What the hash of its state leaves out.
    var fills: Fills
    /// The beginnings of the identifiers of all commits before it, in order.
    var below: [UInt8]

    /// The beginnings one by one.
    var beginnings: [[UInt8]] {
      stride(from: 0, to: below.count, by: ChangesetID.beginningLength)
        .map { Array(below[$0..<min($0 + ChangesetID.beginningLength, below.count)]) }
    }

    /// Whether a commit is before it.
    func contains(_ id: ChangesetID) -> Bool { beginnings.contains(id.beginning) }

    /// Whether this copy has made it of its own rows, and keeps nothing else of the commit.
    var isMadeHere: Bool { body.isEmpty }
  }

  /// The table is made with the first root.
  private func isThere() throws(ChangesetError) -> Bool {
    try connection.hasTable("changesets_roots")
  }

  func contains(seq: Int64) throws(ChangesetError) -> Bool {
    guard try isThere() else { return false }
    return try connection.integer("SELECT 1 FROM changesets_roots WHERE seq = ?1", .integer(seq))
      != nil
  }

  func all() throws(ChangesetError) -> [Root] {
    guard try isThere() else { return [] }
    return
      try connection.rows("SELECT seq, head, body, fills, below FROM changesets_roots ORDER BY seq")
    { row in
      (
        seq: row.integer(0), head: row.bytes(1), body: row.bytes(2), fills: row.bytes(3),
        below: row.bytes(4)
      )
    }
    .map { (row) throws(ChangesetError) in
      let fills = try reading("a snapshot") { () throws(ByteFault) in try Fills(row.fills) }
      return Root(seq: row.seq, head: row.head, body: row.body, fills: fills, below: row.below)
    }
  }

  func root(seq: Int64) throws(ChangesetError) -> Root? { try all().first { $0.seq == seq } }

  func keep(root: Root) throws(ChangesetError) {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS main.changesets_roots(
        seq INTEGER PRIMARY KEY, head BLOB, body BLOB, fills BLOB, below BLOB)
      """
    )
    try connection.run(
      "REPLACE INTO changesets_roots VALUES(?1, ?2, ?3, ?4, ?5)",
      .integer(root.seq),
      .blob(root.head),
      .blob(root.body),
      .blob(root.fills.bytes),
      .blob(root.below)
    )
  }

  func forget() throws(ChangesetError) {
    try connection.execute("DROP TABLE IF EXISTS main.changesets_roots")
  }

  /// The beginnings of the identifiers of what is before roots.
  func below() throws(ChangesetError) -> Set<[UInt8]> {
    var result: Set<[UInt8]> = []
    for root in try all() { result.formUnion(root.beginnings) }
    return result
  }
}

extension Fills {
  /// Reads what ``bytes`` gives.
  init(_ bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    for _ in 0..<(try reader.count(ofAtLeast: 3)) {
      let table = try reader.text()
      let fill = TableDelta.Fill(column: try reader.text(), value: try reader.value())
      guard add(fill, of: table) else { throw ByteFault("a column was filled twice") }
    }
    guard reader.isAtEnd else { throw ByteFault("something follows its end") }
  }

  /// All of them, in the order of their names.
  var list: [(table: String, fill: TableDelta.Fill)] {
    tables.keys.sortedByBytes()
      .flatMap { table in
        (tables[table] ?? [:]).keys.sortedByBytes()
          .map { (table, TableDelta.Fill(column: $0, value: value(of: $0, in: table))) }
      }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    let list = list
    writer.write(count: list.count)
    for (table, fill) in list {
      writer.write(table)
      writer.write(fill.column)
      writer.write(fill.value)
    }
    return writer.bytes
  }
}
