import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// States in place of commits from before a squash that this copy lacks, or that lost their changes.
///
/// What such a commit had in the rows that somebody has changed after it these changes tell. Everything else counts as it
/// is where the history begins: nobody has touched it on the one side, and on the other it is what it is.
struct StandIns {
  let work: HistoryWork

  /// A commit in place of one that is not here, without rows yet.
  func row(for id: ChangesetID, before commit: Commit) throws(ChangesetError) -> LogRow {
    let header = CommitHeader(
      kind: .edit,
      schema: work.tables.id,
      parents: [],
      generation: max(1, commit.header.generation - 1),
      time: .zero,
      replica: "-",
      branch: commit.header.branch,
      stateHash: .zero
    )
    _ = try work.schemaNumber()
    let empty = Commit(header: header, changes: StateDelta())
    return try work.log.append(
      empty,
      id: id,
      body: CommitWriter.body(of: empty),
      parents: [],
      isRemote: true
    )
  }

  /// Gives their states to the commits that lines to some others begin with: those that are missing, and those between which
  /// and the horizon changes were removed.
  func fill(before tips: [LogRow], missing: Set<Int64>) throws(ChangesetError) {
    guard let horizon = try Horizon(work.connection)?.row else { return }
    var lines: [Int64: [StateDelta]] = [:]
    for tip in tips {
      let (start, line) = try line(to: tip)
      guard let start else { continue }
      if !missing.contains(start.seq),
        try isThere({ () throws(ChangesetError) in
          try work.log.changes(from: start.seq, to: horizon.seq)
        }) != nil
      {
        continue
      }
      var fold = DeltaFold()
      for row in line {
        let changes = try work.log.commit(row).changes
        try reading("commit \(row.id.short)") { () throws(ByteFault) in try fold.add(changes) }
      }
      lines[start.seq, default: []].append(fold.result)
    }
    if lines.isEmpty { return }
    let (present, fills) = try beginning(horizon: horizon, missing: missing)
    for seq in lines.keys.sorted() {
      // The state is one of the present schema.
      try work.connection.run(
        "UPDATE changesets_log SET schema = ?2 WHERE seq = ?1",
        .integer(seq),
        .integer(try work.schemaNumber())
      )
      try Beginnings(work: work)
        .begin(
          with: try work.log.row(seq),
          state: Self.state(present, before: lines[seq] ?? []),
          fills: fills
        )
    }
  }

  /// The state that the others' history begins with here, as the present schema has it.
  private func beginning(
    horizon: LogRow,
    missing: Set<Int64>
  ) throws(ChangesetError) -> (state: StateDelta, fills: Fills) {
    var start = horizon
    let state = { (row: LogRow) throws(ChangesetError) -> StateDelta in
      let schema = try work.dictionaries.schema(number: row.schema)
      return try SnapshotMaking(work: work).state(of: row, schema: schema)
    }
    var found = try isThere { () throws(ChangesetError) in try state(horizon) }
    if found == nil, let cut = try work.info.integer(.horizon) {
      // Commits may have come since the changes were removed that go on from before that cut.
      let table = try ParentTable(work.connection, without: missing)
      guard let seq = table.cut(from: cut) else { throw Self.tooShort }
      start = try work.log.row(seq)
      found = try state(start)
    }
    guard let found else { throw Self.tooShort }
    let fills = try StateFrames(work.connection).frame(of: start).fills
    let whole = try isThere { () throws(ChangesetError) in
      try work.log.changes(from: nil, to: start.seq)
    }
    if whole == nil { try Beginnings(work: work).begin(with: start, state: found, fills: fills) }
    let upgrade = try SchemaUpgrade(work.connection, to: work.tables.description)
    return (try upgrade.upgraded(delta: found, from: start.schema), fills)
  }

  private static let tooShort = ChangesetError(
    .historyTooShort,
    "old changes were removed from this copy that these commits go on from; another copy can rebase them"
  )

  /// What a body makes; nil if changes were removed that it needs.
  private func isThere<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value? {
    do throws(ChangesetError) { return try body() } catch {
      guard error.code == .historyTooShort else { throw error }
      return nil
    }
  }

  /// The commits beside the horizon on the way of first parents to one, and the commit before them.
  private func line(
    to tip: LogRow
  ) throws(ChangesetError) -> (start: LogRow?, line: [LogRow]) {
    var line: [LogRow] = []
    var next: LogRow? = tip
    while let row = next, row.isBeside {
      line.append(row)
      next = try row.parent.map { (seq) throws(ChangesetError) in try work.log.row(seq) }
    }
    return (next, line.reversed())
  }

  /// A state with what lines had in the rows that they have changed.
  private static func state(_ present: StateDelta, before lines: [StateDelta]) -> StateDelta {
    var tables = Dictionary(
      present.tables.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for line in lines {
      for table in line.tables {
        var rows = Dictionary(
          (tables[table.name]?.rows ?? []).map { ($0.key, $0) },
          uniquingKeysWith: { first, _ in first }
        )
        for row in table.rows where row.isChange { rows[row.key] = before(row, rows[row.key]) }
        tables[table.name, default: TableDelta(table.name, rows: [])].rows =
          rows.values.sorted { $0.key < $1.key }
      }
    }
    return StateDelta(
      tables: tables.keys.sortedByBytes().compactMap { tables[$0] }
        .filter { !$0.rows.isEmpty || !$0.fills.isEmpty }
    )
  }

  /// A row as it was before a change, nil if it was not there.
  private static func before(_ change: RowDelta, _ present: RowDelta?) -> RowDelta? {
    if change.kind == .insert { return nil }
    var cells: [String: SQLiteValue] = [:]
    if change.kind == .update {
      for cell in present?.cells ?? [] { cells[cell.column] = cell.new }
    }
    for cell in change.cells { cells[cell.column] = cell.old }
    return RowDelta(
      .insert,
      change.key,
      cells: cells.keys.sorted { $0.precedesByBytes($1) }
        .compactMap { column in
          let value = cells[column] ?? .null
          return value == .null
            ? nil : CellDelta(column, old: .null, new: value, time: .zero)
        },
      time: .zero
    )
  }
}
