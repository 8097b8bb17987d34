import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows of a table that a migration has changed, with what was known of them before.
///
/// What was edited last stays so, on whatever device: rows keep the times of their columns.
struct CarriedRows: TransactionPart {
  let transaction: SyncTransaction
  /// The place of the table as it is now among the transaction's.
  let place: Int
  /// The columns as they were numbered before the migration.
  let formerColumns: [String]
  /// The new names of columns by the former ones.
  var renamedColumns: [String: String] = [:]
  /// Whether all edits were captured until now.
  var isCaptured = true
  /// Whether the rows have edits that are read next: these tell what was added to counters.
  var areEdited = false

  var table: RecordTable { tables[place] }

  /// What is known of a clean row, by its columns' former names.
  func state(
    of known: KnownRow,
    key: SQLiteValue,
    values: [SQLiteValue]?
  ) throws(SQLiteError) -> StoredState? {
    let (clock, rest) = try decoded(known, key: key)
    let columns = clock.columns.compactMap { column -> VersionedColumn? in
      if let kept = rest?.columns.first(where: { UTF8Bytes.equal($0.name, column.name) }) {
        return kept
      }
      return value(of: renamedColumns[column.name] ?? column.name, in: values)
        .map { VersionedColumn(column, value: $0) }
    }
    var row = RecordVersion(clock: clock, columns: columns)
    row.foreignFields = rest?.foreignFields ?? []
    var state = RecordState()
    state.row = row
    state.forgotten = rest?.forgotten ?? []
    state.cloud = .present(
      CloudRecord(
        tag: known.tag,
        clock: row.clock,
        values: columns.filter { table.rules.looksAtValues(of: $0.name) },
        aside: rest?.aside ?? []
      )
    )
    return StoredState(state) { name in
      rest?.columns.place(of: name) == nil
        && table.places.number(of: renamedColumns[name] ?? name) != nil
    }
  }

  private func decoded(
    _ known: KnownRow,
    key: SQLiteValue
  ) throws(SQLiteError) -> (RecordClock, RestOfRecord?) {
    do throws(CodedError) {
      let clock = try ClockCoding(numbers: ColumnNumbers(formerColumns)).clock(from: known.clock)
      let rest = try known.rest.map { (bytes) throws(CodedError) in
        try RestOfRecord(codedBytes: bytes)
      }
      return (clock, rest)
    } catch {
      throw SQLiteError(
        code: 11,
        message: "row \(key.literal) in cloudsync_known is damaged: \(error)"
      )
    }
  }

  /// What a row has in a column; nil if its table has no such column.
  private func value(of column: String, in values: [SQLiteValue]?) -> FieldValue? {
    guard let number = table.places.number(of: column) else { return nil }
    return values.map { table.fieldValue($0[number], at: number) } ?? .null
  }

  /// The former names of renamed columns that have more than their default; counters have their shares.
  private func filledColumns(of state: StoredState, values: [SQLiteValue]?) -> [String] {
    renamedColumns.filter { former, name in
      guard let number = table.places.number(of: name), !table.rules.isCounter(name),
        let value = state.keptValue(of: former) ?? self.value(of: name, in: values)
      else { return false }
      return !table.isDefault(value, at: number)
    }
    .map(\.key)
  }

  /// Has a row of the table go on with what was known of it.
  ///
  /// - Parameters:
  ///   - state: What was known, by the columns' former names.
  ///   - key: The key that it has now.
  ///   - values: What the table has; nil if it has no such row.
  ///   - source: What the state was put together from.
  ///   - digest: The digest that was stored of a clean row.
  ///   - isOtherRecord: Whether its record has another name, so that the cloud has none.
  /// - Throws: SQLite's reason.
  func keep(
    _ state: StoredState,
    of key: RecordKey,
    values: [SQLiteValue]?,
    source: RecordStore.Source,
    digest: Int64? = nil,
    isOtherRecord: Bool
  ) throws(SQLiteError) {
    let rules = table.rules
    let isUnchanged = isCaptured || values != nil && digest == values.map { table.digest(of: $0) }
    // Of a row that waits to be sent nothing tells.
    let isChanged = !isUnchanged && digest != nil
    let renamed = state.renamed(
      renamedColumns,
      deletes: rules.deletes,
      isChanged: isChanged,
      writer: rules.writer,
      filled: isUnchanged ? filledColumns(of: state, values: values) : []
    )
    var loaded = RecordStore.Loaded()
    loaded.state = renamed.state(deletes: rules.deletes) { self.value(of: $0, in: values) }
    loaded.source = source
    loaded.isStale = true
    loaded.digest = digest
    if values != nil {
      loaded.unwrittenColumns = renamed.keptOfTable.filter { table.places.number(of: $0) != nil }
    }
    // What this database has added comes back under its own number.
    loaded.state.noteAncestors(of: loaded.state.row?.clock, rules: rules)
    if isOtherRecord {
      if let values, source == .known, let digest {
        takeUntold(values, digest: digest, in: &loaded)
      }
      _ = loaded.state.reduce(.zoneReplaced, rules: rules)
    }
    var row = LoadedRow(
      place: place,
      key: key,
      rowKey: table.rowKey(of: key),
      values: values,
      loaded: loaded
    )
    row.takeFilling(in: table, renamed: Array(renamedColumns.values))
    try takeCounters(of: &row, since: state)
    if isOtherRecord {
      try renameMoves(of: &row.state.row)
      for place in row.state.endedLives.indices {
        var life: RecordVersion? = row.state.endedLives[place]
        try renameMoves(of: &life)
        if let life { row.state.endedLives[place] = life }
      }
      try renameMoves(of: &row.state.former)
    }
    transaction.keep(row)
  }

  /// Has the table show what others have counted under the new name of a counter, which it has under the former one only.
  private func takeCounters(
    of row: inout LoadedRow,
    since former: StoredState
  ) throws(SQLiteError) {
    guard let values = row.values, row.state.placement == .inTable, !row.state.isDeleted else {
      return
    }
    for old in renamedColumns.keys.sortedByBytes() {
      guard let new = renamedColumns[old], table.rules.isCounter(new),
        let place = table.places.number(of: new),
        let shown = former.sum(of: old), let sum = row.state.row?.value(of: new), sum != shown
      else { continue }
      let value = table.fieldValue(values[place], at: place)
      if !isCaptured, !areEdited, value != shown {
        // Somebody has counted unseen.
        let edit = ColumnEdit(name: new, value: value, former: shown)
        let time = try transaction.nextTime()
        _ = row.reduce(.edited(.updated([edit], at: time)), rules: table.rules)
      }
      row.needsWrite = true
    }
  }

  /// Takes for edited what a row has that was changed unseen and goes on as another record, so that no fetch tells what: each column
  /// is later than the version that was known, and than nothing else.
  private func takeUntold(
    _ values: [SQLiteValue],
    digest: Int64,
    in loaded: inout RecordStore.Loaded
  ) {
    let former = formerColumns.map { renamedColumns[$0] ?? $0 }
    let added = table.columns.filter { name in
      !former.contains { UTF8Bytes.equal($0, name) }
    }
    // Without a column that has gone its digest tells nothing.
    guard !isCaptured, former.allSatisfy({ table.places.number(of: $0) != nil }),
      table.digest(of: values, without: added) != digest, let clock = loaded.state.row?.clock
    else { return }
    let edits = table.untoldEdits(of: values, besides: loaded.unwrittenColumns) {
      clock.time(of: $0) != nil
    }
    _ = loaded.state.reduce(.edited(.updated(edits, at: .zero)), rules: table.rules)
  }

  /// Has rows whose keys were changed go on as the records that their successors are now.
  private func renameMoves(of version: inout RecordVersion?) throws(SQLiteError) {
    var names: [String: String] = [:]
    for move in version?.clock.moves ?? [] {
      names[move.name] = try presentName(ofRecord: move.name)
    }
    if !names.isEmpty { version?.renameMoves { names[$0] ?? $0 } }
  }

  private func presentName(ofRecord name: String) throws(SQLiteError) -> String {
    if let parsed = RecordName.parse(name), case .values(let values) = parsed.key {
      return values.count == table.key.count ? table.format.key(spelled: values).name : name
    }
    let digest = RecordName.name(
      ofKey: RecordName.key(of: name),
      recordType: table.format.recordType
    )
    return try transaction.key(ofRow: digest, in: place)?.name ?? digest
  }
}
