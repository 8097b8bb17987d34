import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Makes snapshots of commits.
struct SnapshotMaking {
  let work: HistoryWork

  func snapshot(of row: LogRow) throws(ChangesetError) -> Snapshot {
    var schema = try work.dictionaries.schema(number: row.schema)
    if schema.id == work.tables.id { schema = work.tables.description }
    let root = try SnapshotRoots(connection: work.connection).root(seq: row.seq)
    var (head, body) = (root?.head ?? [], root?.body)
    if root == nil {
      (head, body) = (
        CommitWriter.head(of: try work.log.header(row: row)), try work.log.body(seq: row.seq)
      )
    }
    guard let body, !body.isEmpty else {
      throw ChangesetError(
        .historyTooShort,
        "the changes of commit \(row.id.short) were removed from this copy"
      )
    }
    let commit = try reading("commit \(row.id.short)") { () throws(ByteFault) in
      try CommitReader.commit(head + body)
    }
    let snapshot = Snapshot(
      schema: schema,
      commit: commit,
      head: head,
      body: body,
      state: try state(of: row, schema: schema),
      below: try below(row: row)
    )
    guard snapshot.state.count <= Snapshot.largestState else {
      throw ChangesetError(
        .tooLarge,
        "all rows together have \(snapshot.state.count >> 20) MB, and a snapshot holds at most 850"
      )
    }
    return snapshot
  }

  /// All rows of a commit as insertions of its time, with what columns were filled with; held against its hash.
  func state(of row: LogRow, schema: SchemaDescription) throws(ChangesetError) -> StateDelta {
    let frames = try StateFrames(work.connection)
    let frame = try frames.frame(of: row)
    let rows = try rows(of: row, schema: schema).written(at: row.time)
    let hash = StateHash.zero.adding(rows, from: try frames.frame(of: nil), to: frame)
    guard hash == row.stateHash else {
      throw ChangesetError(
        .damaged,
        "commit \(row.id.short) leads to another state than it says; “verify” tells more"
      )
    }
    var tables = Dictionary(
      rows.tables.map { ($0.name, TableDelta($0.name, rows: $0.rows)) },
      uniquingKeysWith: { first, _ in first }
    )
    for (name, fill) in frame.fills.list {
      tables[name, default: TableDelta(name, rows: [])].fills.append(fill)
    }
    return StateDelta(tables: tables.keys.sortedByBytes().compactMap { tables[$0] })
  }

  private func rows(of row: LogRow, schema: SchemaDescription) throws(ChangesetError) -> StateDelta
  {
    let log = CommitLog(connection: work.connection, schema: schema)
    do throws(ChangesetError) { return try log.changes(from: nil, to: row.seq) } catch {
      // Where old changes were removed the rows themselves tell.
      guard error.code == .historyTooShort, schema.id == work.tables.id else { throw error }
    }
    let head = try work.heads.position().seq
    var fold = DeltaFold()
    for part in [
      try present(), try work.parked.absent(from: work.tables),
      try work.uncommitted.changes(at: .zero).inverted(at: .zero),
      try log.changes(from: head, to: row.seq),
    ] {
      try reading("the state of HEAD") { () throws(ByteFault) in try fold.add(part) }
    }
    return fold.result
  }

  /// The rows that the tables hold, as insertions.
  private func present() throws(ChangesetError) -> StateDelta {
    var tables: [TableDelta] = []
    for table in work.tables.tables {
      var rows: [RowDelta] = []
      try TableRows(connection: work.connection, table: table).forEach { rows.append($0) }
      if !rows.isEmpty {
        tables.append(TableDelta(table.name, rows: rows.sorted { $0.key < $1.key }))
      }
    }
    return StateDelta(tables: tables.sorted { $0.name.precedesByBytes($1.name) })
  }

  /// The beginnings of the identifiers of all that is before a commit, in order.
  func below(row: LogRow) throws(ChangesetError) -> [UInt8] {
    try beginnings(before: row).sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
  }

  /// The beginnings of the identifiers of all that is before a commit, or that something before it was rebased from.
  func beginnings(before row: LogRow) throws(ChangesetError) -> Set<[UInt8]> {
    var beginnings = try SnapshotRoots(connection: work.connection).below()
    let commits = try work.log.ancestors(of: [row.seq])
    for seq in commits where seq != row.seq {
      beginnings.insert(try work.log.row(seq).id.beginning)
    }
    // What these were rebased from is in them.
    let originals = try RebasedCommits(connection: work.connection).originals(of: commits)
    for id in originals.values.joined() {
      if let seq = try work.log.number(of: id), try work.log.row(seq).isBeside == false { continue }
      beginnings.insert(id.beginning)
    }
    return beginnings
  }
}
