import CloudSyncCore
import CloudSyncSQLiteSupport

/// The states of one table's rows, within the open transaction: put together from the table itself and
/// from what is kept beside it, and taken apart again.
struct RecordStore {
  /// What a state was put together from, so that nothing is removed that is not there.
  enum Source: Sendable {
    case unknown, known, pending
  }

  /// A state as it was put together.
  struct Loaded {
    var state = RecordState()
    var source = Source.unknown
    /// Columns that the table has now and whose values were kept beside it: the row is to be written.
    var unwrittenColumns: [String] = []
    /// The stored digest of a clean row.
    var digest: Int64?
    /// Columns that the cloud has, and whose values went with the table's columns.
    var forgottenColumns: [String] = []
    /// Whether it is not dirty any more, since a column was dropped that was to be sent.
    var isStale = false
  }

  let connection: SQLiteConnection
  let table: Int64
  /// The columns that can be written, by their places in the table.
  let places: ColumnNumbers
  /// The numbers of these columns, and of those that there were.
  let numbers: ColumnNumbers
  let rules: RowRules
  /// A digest of a row's values.
  let digest: ([SQLiteValue]) -> Int64
  /// A value of the column at a place as it travels.
  let fieldValue: @Sendable (_ place: Int, SQLiteValue) -> FieldValue

  private var known: KnownRows { KnownRows(connection: connection) }
  private var longKeys: LongKeys { LongKeys(connection: connection) }
  private var pending: PendingRows { PendingRows(connection: connection) }

  /// The state of a row, whose values are those of the columns that can be written; nil if the table has no such row.
  func state(
    of key: SQLiteValue,
    values: [SQLiteValue]?
  ) throws(SQLiteError) -> Loaded {
    let place = RowKey(table: table, key: key)
    let value = { (name: String) -> FieldValue? in
      guard let column = places.number(of: name) else { return nil }
      // Of a row that is gone its deletion tells the values.
      return values.map { fieldValue(column, $0[column]) } ?? .null
    }
    var loaded = try load(place, value: value)
    // A row that is gone from its table is not made anew of what lies beside it: it may be deleted, unseen.
    if values == nil { loaded.unwrittenColumns = [] }
    return loaded
  }

  private func load(
    _ place: RowKey,
    value: (String) -> FieldValue?
  ) throws(SQLiteError) -> Loaded {
    if let stored = try pending.state(of: place) {
      let state = stored.state(deletes: rules.deletes, value: value)
      return Loaded(
        state: state,
        source: .pending,
        unwrittenColumns: stored.keptOfTable.filter(isStored),
        forgottenColumns: stored.forgottenColumns(value: value),
        isStale: state.isDirty != stored.isDirty
      )
    }
    guard let row = try known.row(place) else { return Loaded() }
    do throws(CodedError) {
      var loaded = try clean(row, value: value)
      loaded.digest = row.digest
      return loaded
    } catch {
      throw SQLiteError(
        code: 11,
        message: "row \(place.key.literal) in cloudsync_known is damaged: \(error)"
      )
    }
  }

  /// The state of a clean row.
  private func clean(
    _ known: KnownRow,
    value: (String) -> FieldValue?
  ) throws(CodedError) -> Loaded {
    let clock = try ClockCoding(numbers: numbers).clock(from: known.clock)
    let rest = try known.rest.map { (bytes) throws(CodedError) in
      try RestOfRecord(codedBytes: bytes)
    }
    let columns = clock.columns.compactMap { column -> VersionedColumn? in
      if let one = rest?.columns.first(where: { UTF8Bytes.equal($0.name, column.name) }) {
        return one
      }
      // What was dropped from the table is not known here any more, which is no edit of it.
      return value(column.name).map { VersionedColumn(column, value: $0) }
    }
    var row = RecordVersion(clock: clock, columns: columns)
    let dropped = clock.columns.map(\.name).filter { columns.place(of: $0) == nil }
    row.foreignFields = rest?.foreignFields ?? []
    var state = RecordState()
    state.row = row
    state.forgotten =
      (rest?.forgotten ?? []) + clock.seenTimes(of: dropped, deletes: rules.deletes)
    state.cloud = .present(
      CloudRecord(
        tag: known.tag,
        clock: row.clock,
        values: columns.filter { rules.looksAtValues(of: $0.name) },
        aside: rest?.aside ?? []
      )
    )
    let unwritten = rest?.columns.map(\.name).filter(isStored) ?? []
    return Loaded(
      state: state,
      source: .known,
      unwrittenColumns: unwritten,
      forgottenColumns: dropped
    )
  }

  /// Keeps a state: where the table has the row as it is to be and the cloud has it too, in a few bytes.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - key: The row's key as the engine's tables have it.
  ///   - name: The name of its record.
  ///   - values: The values of these columns that the table has now; nil if it has no such row.
  ///   - source: What the state before was put together from.
  ///   - isSure: Whether the table has what the state's times tell: else the row is to be compared.
  /// - Throws: SQLite's reason.
  func save(
    _ state: RecordState,
    of key: SQLiteValue,
    named name: String,
    values: [SQLiteValue]?,
    source: Source,
    isSure: Bool = true
  ) throws(SQLiteError) {
    let place = RowKey(table: table, key: key)
    if state.isSettled, let record = state.known, let row = state.row, let values,
      !state.isDeleted
    {
      let known = KnownRow(
        tag: record.tag,
        clock: ClockCoding(numbers: numbers).bytes(of: row.clock),
        // One that it does not have tells whoever compares it that it may have been changed.
        digest: isSure ? digest(values) : ~digest(values),
        rest: rest(of: row, beside: record, forgotten: state.forgotten)?.codedBytes
      )
      try self.known.save(known, of: place)
      if source == .pending { try pending.remove(place) }
      return try longKeys.note(place, named: name)
    }
    let stored = StoredState(state) { isStored($0) }
    if let stored { try pending.save(stored, of: place, named: name) }
    if stored == nil, source == .pending { try pending.remove(place) }
    if stored == nil {
      try longKeys.remove(place, named: name)
    } else {
      try longKeys.note(place, named: name)
    }
    if source == .known { try known.remove(place) }
  }

  private func isStored(_ name: String) -> Bool { places.number(of: name) != nil }

  private func rest(
    of row: RecordVersion,
    beside record: CloudRecord,
    forgotten: [SeenTime]
  ) -> RestOfRecord? {
    let unknown = row.columns.filter { !isStored($0.name) }
    let rest = RestOfRecord(
      columns: unknown,
      foreignFields: row.foreignFields,
      aside: record.aside,
      forgotten: forgotten
    )
    return rest.isEmpty ? nil : rest
  }
}

/// What the table cannot hold of a clean row's record: columns and fields that newer versions know.
struct RestOfRecord: Sendable, Hashable {
  var columns: [VersionedColumn]
  var foreignFields: [RecordField]
  /// The names of the fields that the record has beside its columns' own.
  var aside: [String]
  /// What it has in columns that were dropped here.
  var forgotten: [SeenTime]

  var isEmpty: Bool {
    columns.isEmpty && foreignFields.isEmpty && aside.isEmpty && forgotten.isEmpty
  }
}

extension RestOfRecord: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    columns = try coder.field("columns") { $0.columns }
    foreignFields = try coder.field("foreignFields") { $0.foreignFields }
    aside = try coder.field("aside") { $0.aside }
    forgotten = try coder.field("forgotten") { $0.forgotten }
  }
}
