import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A row of the log, without its body.
struct LogRow: Sendable, Hashable {
  var seq: Int64
  var id: ChangesetID
  var parent: Int64?
  var merged: Int64?
  var generation: Int64
  var time: HybridTime
  var branch: Int64
  var schema: Int64
  var kind: CommitHeader.Kind
  var place: Place
  var stateHash: StateHash

  /// Where a commit is beside this log.
  enum Place: Int64, Sendable {
    /// No cloud is known to have it.
    case here = 0
    /// The cloud has it.
    case cloud = 1
    /// It does not go on from the horizon: nobody gets it, and nothing is merged with it.
    case beside = 2
  }

  /// Whether the cloud has it.
  var isRemote: Bool { place == .cloud }
  var isBeside: Bool { place == .beside }

  var parents: [Int64] { [parent, merged].compactMap { $0 } }
}

/// The commits of a history, parents before children; nothing in it is ever changed.
struct CommitLog {
  let connection: HistoryConnection
  /// The schema that changes are read as; nil for the newest that any commit has.
  var schema: SchemaDescription?

  private var dictionaries: Dictionaries { Dictionaries(connection: connection) }

  private static let columns =
    "seq, id, parent, merged, generation, time, branch, schema, kind, remote, state"

  // MARK: Reading

  func row(_ seq: Int64) throws(ChangesetError) -> LogRow {
    let found = try connection.row(
      "SELECT \(Self.columns) FROM changesets_log WHERE seq = ?1",
      .integer(seq),
      map: { Self.row($0) }
    )
    guard let found, let row = found else {
      throw ChangesetError(
        .damaged,
        "the history lacks commit number \(seq); restore a copy of the database"
      )
    }
    return row
  }

  /// Rows whose numbers are above one, at most so many.
  func rows(after seq: Int64, limit: Int64) throws(ChangesetError) -> [LogRow] {
    try connection.rows(
      "SELECT \(Self.columns) FROM changesets_log WHERE seq > ?1 ORDER BY seq LIMIT ?2",
      .integer(seq),
      .integer(limit)
    ) { Self.row($0) }
    .compactMap { $0 }
  }

  /// Rows whose identifiers begin with bytes, at most two.
  func numbers(withPrefix low: [UInt8], upTo high: [UInt8]) throws(ChangesetError) -> [Int64] {
    let known = try connection.rows(
      "SELECT seq FROM changesets_ids WHERE id >= ?1 AND id <= ?2 LIMIT 2",
      .blob(low),
      .blob(high)
    ) { $0.integer(0) }
    let recent = try connection.rows(
      "SELECT seq FROM changesets_log WHERE seq > ?3 AND id >= ?1 AND id <= ?2 LIMIT 2",
      .blob(low),
      .blob(high),
      .integer(try indexed)
    ) { $0.integer(0) }
    return known + recent
  }

  /// The number of a commit; nil if it is not here.
  func number(of id: ChangesetID) throws(ChangesetError) -> Int64? {
    let bytes = SQLiteValue.blob(id.bytes)
    let known = try connection.integer("SELECT seq FROM changesets_ids WHERE id = ?1", bytes)
    if let known { return known }
    return try connection.integer(
      "SELECT seq FROM changesets_log WHERE seq > ?2 AND id = ?1",
      bytes,
      .integer(try indexed)
    )
  }

  func id(seq: Int64?) throws(ChangesetError) -> ChangesetID? {
    guard let seq else { return nil }
    return try row(seq).id
  }

  /// A commit's parents as people count them: the first of a merge is the one that was made on the merge's own branch, if
  /// the other was not.
  ///
  /// A merge is stored against the side that has changed more, which says nothing of what was merged into what.
  func parentsByBranch(of row: LogRow) throws(ChangesetError) -> [Int64] {
    guard let first = row.parent, let second = row.merged,
      try self.row(first).branch != row.branch, try self.row(second).branch == row.branch
    else { return row.parents }
    return [second, first]
  }

  func header(row: LogRow) throws(ChangesetError) -> CommitHeader {
    var parents: [ChangesetID] = []
    for parent in row.parents { parents.append(try self.row(parent).id) }
    return CommitHeader(
      kind: row.kind,
      schema: try dictionaries.schemaID(number: row.schema),
      parents: parents,
      generation: row.generation,
      time: row.time,
      branch: try dictionaries.name(number: row.branch),
      stateHash: row.stateHash
    )
  }

  /// The coded body; nil if it was removed.
  func body(seq: Int64) throws(ChangesetError) -> [UInt8]? {
    let body = try connection.row("SELECT body FROM changesets_log WHERE seq = ?1", .integer(seq)) {
      $0.isNull(0) ? nil : $0.bytes(0)
    }
    return body ?? nil
  }

  /// Whether the changes of a commit were removed.
  func isGone(seq: Int64) throws(ChangesetError) -> Bool {
    try connection.integer(
      "SELECT 1 FROM changesets_log WHERE seq = ?1 AND body IS NULL",
      .integer(seq)
    ) != nil
  }

  /// A whole commit, as the present schema has its changes.
  func commit(_ row: LogRow) throws(ChangesetError) -> Commit {
    try commit(row, upgrade: try SchemaUpgrade(connection, to: schema))
  }

  func commit(_ row: LogRow, upgrade: SchemaUpgrade) throws(ChangesetError) -> Commit {
    var commit = try written(row: row)
    commit.changes = try upgrade.upgraded(
      delta: commit.changes,
      from: row.schema,
      migrating: try formerSchema(of: row)
    )
    return commit
  }

  /// The schema that a migration has left behind; nil of other commits.
  private func formerSchema(of row: LogRow) throws(ChangesetError) -> Int64? {
    guard row.kind == .migration, let parent = row.parent else { return nil }
    return try self.row(parent).schema
  }

  /// A whole commit as it was written.
  func written(row: LogRow) throws(ChangesetError) -> Commit {
    var header = try header(row: row)
    guard let body = try body(seq: row.seq) else {
      throw ChangesetError(
        .historyTooShort,
        "the changes of commit \(row.id.short) were removed from this copy"
      )
    }
    return try reading("commit \(row.id.short)") { () throws(ByteFault) in
      var reader = ByteReader(body)
      let commit = try CommitReader.body(&reader, header: &header)
      guard reader.isAtEnd else { throw ByteFault("something follows its end") }
      return commit
    }
  }

  private static func row(_ statement: SQLiteStatement) -> LogRow? {
    let state = statement.bytes(10)
    guard let id = ChangesetID(bytes: statement.bytes(1)), state.count == 16,
      let kind = CommitHeader.Kind(rawValue: UInt8(truncatingIfNeeded: statement.integer(8)))
    else { return nil }
    var reader = ByteReader(state)
    guard let high = try? reader.bigEndian(), let low = try? reader.bigEndian() else { return nil }
    return LogRow(
      seq: statement.integer(0),
      id: id,
      parent: statement.isNull(2) ? nil : statement.integer(2),
      merged: statement.isNull(3) ? nil : statement.integer(3),
      generation: statement.integer(4),
      time: HybridTime(rawValue: statement.integer(5)),
      branch: statement.integer(6),
      schema: statement.integer(7),
      kind: kind,
      place: LogRow.Place(rawValue: statement.integer(9)) ?? .cloud,
      stateHash: StateHash(high: high, low: low)
    )
  }

  // MARK: Writing

  /// Appends a commit, whose parents are here; returns its row.
  func append(
    _ commit: Commit,
    id: ChangesetID,
    body: [UInt8],
    parents: [Int64],
    isRemote: Bool
  ) throws(ChangesetError) -> LogRow {
    let header = commit.header
    guard let schema = try dictionaries.number(ofSchema: header.schema) else {
      throw ChangesetError(.damaged, "the schema of commit \(id.short) is not described")
    }
    var row = LogRow(
      seq: 0,
      id: id,
      parent: parents.first,
      merged: parents.count > 1 ? parents[1] : nil,
      generation: header.generation,
      time: header.time,
      branch: try dictionaries.number(forName: header.branch),
      schema: schema,
      kind: header.kind,
      place: isRemote ? .cloud : .here,
      stateHash: header.stateHash
    )
    try insert(row: row, body: body)
    row.seq = try connection.integer("SELECT last_insert_rowid()") ?? 0
    // Whoever looks for an identifier looks through those without an index: there must not be more and more of them.
    if row.seq.isMultiple(of: Self.unindexedLimit) { try index() }
    return row
  }

  private func insert(row: LogRow, body: [UInt8]) throws(ChangesetError) {
    var state = ByteWriter()
    state.writeBigEndian(word: row.stateHash.high)
    state.writeBigEndian(word: row.stateHash.low)
    try connection.run(
      """
      INSERT INTO changesets_log(
        id, parent, merged, generation, time, branch, schema, kind, remote, state, body)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
      """,
      .blob(row.id.bytes),
      row.parent.map { .integer($0) } ?? .null,
      row.merged.map { .integer($0) } ?? .null,
      .integer(row.generation),
      .integer(row.time.rawValue),
      .integer(row.branch),
      .integer(row.schema),
      .integer(Int64(row.kind.rawValue)),
      .integer(row.place.rawValue),
      .blob(state.bytes),
      .blob(body)
    )
  }

  func set(place: LogRow.Place, of seq: Int64) throws(ChangesetError) {
    try connection.run(
      "UPDATE changesets_log SET remote = ?2 WHERE seq = ?1",
      .integer(seq),
      .integer(place.rawValue)
    )
  }

  /// The schemas that migrations of commits of another one have led to.
  func schemas(madeOf schema: Int64) throws(ChangesetError) -> [Int64] {
    try connection.rows(
      """
      SELECT DISTINCT m.schema FROM changesets_log m JOIN changesets_log p ON p.seq = m.parent
      WHERE m.kind = 3 AND p.schema = ?1 ORDER BY m.schema
      """,
      .integer(schema)
    ) { $0.integer(0) }
  }

  /// A commit and all that it descends from.
  private static let before = """
    WITH RECURSIVE before(seq) AS (
      SELECT ?1
      UNION SELECT l.parent FROM before b JOIN changesets_log l ON l.seq = b.seq WHERE l.parent NOT NULL
      UNION SELECT l.merged FROM before b JOIN changesets_log l ON l.seq = b.seq WHERE l.merged NOT NULL
    )
    """

  /// The schemas of a commit and of all that it descends from.
  func schemas(before seq: Int64) throws(ChangesetError) -> [Int64] {
    try connection.rows(
      """
      \(Self.before)
      SELECT DISTINCT l.schema FROM before b JOIN changesets_log l ON l.seq = b.seq ORDER BY l.schema
      """,
      .integer(seq)
    ) { $0.integer(0) }
  }

  /// The migrations among the commits that a commit descends from, and itself.
  func migrations(before seq: Int64) throws(ChangesetError) -> [LogRow] {
    try connection.rows(
      """
      \(Self.before)
      SELECT l.seq FROM before b JOIN changesets_log l ON l.seq = b.seq WHERE l.kind = 3 ORDER BY l.seq
      """,
      .integer(seq)
    ) { $0.integer(0) }
    .map { (number) throws(ChangesetError) in try row(number) }
  }

  /// How many commits no cloud is known to have; what is before a squash, and what was put on top of one, is in it.
  func unpushedCount() throws(ChangesetError) -> Int {
    let count = try connection.integer(
      """
      SELECT count(*) FROM changesets_log WHERE remote = 0 AND generation > ?1
        AND seq > ifnull((SELECT value FROM changesets_info WHERE name = 'pushed'), 0)
      """,
      .integer(try Horizon(connection)?.row.generation ?? 0)
    )
    return Int(count ?? 0)
  }

  // MARK: Identifiers

  /// So many commits may have no index.
  static let unindexedLimit: Int64 = 1_000

  /// The highest number whose identifier the index has.
  private var indexed: Int64 {
    get throws(ChangesetError) { try Info(connection).integer(.ids) ?? 0 }
  }

  /// Brings the index of identifiers up to date, if it is far behind.
  ///
  /// An index that is kept for each commit would double its time: identifiers are random.
  func index(unlessFewerThan least: Int64 = 0) throws(ChangesetError) {
    let last = try connection.integer("SELECT max(seq) FROM changesets_log") ?? 0
    let known = try indexed
    guard last > known, last - known >= least else { return }
    try connection.run(
      """
      INSERT INTO changesets_ids SELECT id, seq FROM changesets_log WHERE seq > ?1 AND seq <= ?2
      ORDER BY id
      """,
      .integer(known),
      .integer(last)
    )
    try Info(connection).set(.ids, .integer(last))
  }
}
