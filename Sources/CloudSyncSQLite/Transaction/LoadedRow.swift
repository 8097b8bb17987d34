import CloudSyncCore
import CloudSyncSQLiteSupport

/// A row with what is known of it, while a transaction deals with it.
struct LoadedRow {
  /// The place of its table among the transaction's.
  let place: Int
  let key: RecordKey
  /// The key as the engine's tables have it.
  let rowKey: RowKey
  /// What the table has; nil if it has no such row.
  var values: [SQLiteValue]?
  /// What it had when the transaction began.
  let formerValues: [SQLiteValue]?
  var state: RecordState
  /// What was known when it was read.
  private let formerState: RecordState
  let source: RecordStore.Source
  /// Whether the table's row is to be another one.
  var needsWrite: Bool { didSet { isOutdated = needsWrite } }
  /// Whether something has happened to it that its table does not have yet: then a difference between the two is
  /// nobody's edit.
  private(set) var isOutdated = false
  /// Whether a fetch has to tell what became of the record.
  private(set) var needsFetch = false
  /// Columns that the table has got since: their values were kept beside it, and are not in it yet.
  let unwrittenColumns: [String]
  /// Columns that the cloud has, and whose values went with the table's columns.
  private(set) var forgottenColumns: [String]
  /// The digest that was stored of a clean row.
  var digest: Int64?
  /// Whether its table has what its state says: it was written, or compared with what the cloud has.
  var isCompared = false
  /// Whether edits of it were captured that had not been read yet: then its digest does not tell of unseen ones.
  var isCaptured = false
  /// Whether it was none of the rows that are sent when it was deleted; nil if nobody looked.
  var endsMismatched: Bool?
  /// Whether somebody has changed it unseen, and no more is to be written than what was kept beside its table.
  private(set) var isChangedUnseen = false
  /// Whether what is stored of it says otherwise.
  var isStoredOtherwise = false

  init(
    place: Int,
    key: RecordKey,
    rowKey: RowKey,
    values: [SQLiteValue]?,
    loaded: RecordStore.Loaded
  ) {
    self.place = place
    self.key = key
    self.rowKey = rowKey
    self.values = values
    formerValues = values
    state = loaded.state
    formerState = loaded.state
    source = loaded.source
    unwrittenColumns = loaded.unwrittenColumns
    forgottenColumns = loaded.forgottenColumns
    needsWrite = !loaded.unwrittenColumns.isEmpty
    isStoredOtherwise = loaded.isStale
    digest = loaded.digest
  }

  /// Lets an event happen.
  mutating func reduce(_ event: RecordEvent, rules: RowRules) -> [RecordAction] {
    let actions = state.reduce(event, rules: rules)
    if actions.contains(.writeRow) || actions.contains(.forget) { needsWrite = true }
    if actions.contains(.fetch) { needsFetch = true }
    // A save without them would take them from the record: a fetch of everything brings them first. They go along with a
    // row that gets another key.
    if !forgottenColumns.isEmpty, state.hold == nil, state.isDirty,
      !state.isDeleted || state.row?.successor != nil
    {
      state.hold = .nextFetch(missing: nil)
    }
    return actions
  }

  /// Takes from the record in the version known here what was forgotten with the table's columns.
  ///
  /// - Returns: What is to be done; nil if there was nothing to take.
  mutating func recall(
    from version: RecordVersion,
    tag: String,
    rules: RowRules
  ) -> [RecordAction]? {
    // One that waits for the fetch does not tell any more which columns they are: those that only the record has.
    guard
      !forgottenColumns.isEmpty || !state.forgotten.isEmpty
        || state.hold == .nextFetch(missing: nil),
      UTF8Bytes.equal(state.known?.tag, tag)
    else { return nil }
    forgottenColumns = []
    return reduce(.recalled(version.columns), rules: rules)
  }

  /// Whether nobody can have changed a row in its table unseen, as far as was looked.
  ///
  /// - Parameters:
  ///   - table: Its table.
  ///   - isRebuilt: Whether all of its rows are to be compared, for it was rebuilt.
  /// - Returns: Whether its digest may be kept as that of a row that is in step.
  func isSure(in table: RecordTable, isRebuilt: Bool) -> Bool {
    if isChangedUnseen { return false }
    if source == .pending || isCaptured { return !isRebuilt }
    guard !isCompared, let digest, let formerValues else { return true }
    return table.digest(of: formerValues) == digest
  }

  /// Takes what became of writing the row.
  mutating func place(_ placement: Placement, rules: RowRules) {
    needsWrite = false
    if placement == .inTable { isCompared = true }
    if placement != state.placement { _ = state.reduce(.placed(placement), rules: rules) }
  }

  /// Columns that the row did not know: the first device that sees them sends what the table has.
  ///
  /// - Parameters:
  ///   - table: Its table.
  ///   - edits: What was captured that is to be taken yet: before that counters held what these edits tell.
  /// - Returns: Whether there are any.
  @discardableResult
  mutating func complete(in table: RecordTable, before edits: [RowEdit] = []) -> Bool {
    guard let version = state.row, let values, state.placement == .inTable,
      !state.isDeleted
    else { return false }
    var missing: [VersionedColumn] = []
    for (place, name) in table.columns.enumerated() where version.value(of: name) == nil {
      // What nobody has filled gives way to what somebody has, on whatever device.
      let value = edits.lazy.compactMap { $0.formerNumber(of: name) }.first ?? values[place]
      let isFilled = !table.isDefault(value, at: place)
      missing.append(
        VersionedColumn(
          name: name,
          value: table.fieldValue(value, at: place),
          time: isFilled ? RecordClock.filling : .zero
        )
      )
    }
    if !missing.isEmpty { _ = state.reduce(.completed(missing), rules: table.rules) }
    return !missing.isEmpty
  }

  /// Takes what somebody has filled columns with that the table has got since, where others have no more than its default:
  /// that nobody has set.
  ///
  /// - Parameters:
  ///   - table: Its table.
  ///   - renamed: The new names of columns that the table had before, under other names.
  mutating func takeFilling(in table: RecordTable, renamed: [String] = []) {
    if unwrittenColumns.isEmpty { return }
    // What the new columns were filled with is told below: it is no change of what was known.
    if let digest, let values {
      let added = unwrittenColumns.filter { name in
        !renamed.contains { UTF8Bytes.equal($0, name) }
      }
      isChangedUnseen = digest != table.digest(of: values, without: added)
    }
    guard let values, let version = state.row, !state.isDeleted
    else { return }
    let filled = unwrittenColumns.compactMap { name -> ColumnEdit? in
      guard let place = table.places.number(of: name), !table.isDefault(values[place], at: place),
        let kept = version[name], kept.time == .zero,
        // In a row that somebody has inserted it is the default of the version that has added the column, whichever that is; one
        // that was found may have had a value of its own.
        version.created > RecordClock.foundCreation || table.isDefault(kept.value, at: place),
        !table.rules.isCounter(name)
      else { return nil }
      return ColumnEdit(name: name, value: table.fieldValue(values[place], at: place))
    }
    // It is set just after the default, and before every edit.
    if !filled.isEmpty { _ = reduce(.edited(.updated(filled, at: .zero)), rules: table.rules) }
  }

  /// The row of which nothing is known any more, and which is to go.
  var forgotten: LoadedRow {
    var row = self
    row.state = RecordState()
    row.needsWrite = true
    return row
  }

  /// Remembers a row that is to go and stays for now as one that is deleted: of one that is forgotten nothing else is known,
  /// and it would be taken for a new one.
  mutating func takeDeletion(in table: RecordTable) {
    guard state.row == nil, let values else { return }
    let edits = table.edits(of: values)
    _ = reduce(.edited(.found(edits)), rules: table.rules)
    _ = reduce(.edited(.deleted(edits, at: .zero)), rules: table.rules)
  }

  /// Whether the table should have the row and does not: somebody has deleted it unseen.
  var isLost: Bool {
    values == nil && source != .unknown && state.placement == .inTable && !needsWrite
      && !state.isDeleted
  }

  /// The row as the cloud has it, whatever was done to the table unseen.
  func restored(to version: RecordVersion) -> LoadedRow {
    var row = self
    row.state.row = version
    row.needsWrite = true
    return row
  }

  /// Takes where the files of its assets lie now.
  mutating func takeFiles(of version: RecordVersion) {
    for column in version.columns {
      guard (column.value.assetValue ?? column.value.textAsset) != nil,
        let mine = state.row?[column.name], mine.time == column.time,
        ValueContent.areEqual(mine.value, column.value)
      else { continue }
      state.row?.set(column)
    }
    needsWrite = true
  }

  /// Has a column as the cloud has it in the version known here, whatever its table has.
  mutating func restore(_ column: VersionedColumn) {
    guard let known = state.row?[column.name], known.time == column.time,
      !ValueContent.areEqual(known.value, column.value)
    else { return }
    state.row?.set(column)
    needsWrite = true
  }

  /// The state as it is to be kept: a row that is in no table has its large BLOBs with it, and so has a deleted one of which
  /// not everything is sent.
  func stateToKeep(in table: RecordTable, on connection: SQLiteConnection) -> RecordState {
    let isInTable = state.placement == .inTable && !(state.isDeleted && state.isDirty)
    guard !isInTable || !state.endedLives.isEmpty,
      let staging = AssetStaging(table, connection)
    else { return state }
    var kept = state
    if !isInTable { kept.row = kept.row.map { staging.inlined($0, of: self) } }
    kept.endedLives = kept.endedLives.map { staging.inlined($0, of: self) }
    return kept
  }

  /// Whether nothing of it has to be stored anew.
  var isAsStored: Bool {
    source == .pending && !isStoredOtherwise && state == formerState && values == formerValues
  }

  /// Whether it was heard that rows which had its key before go on under others.
  var hasNewMoves: Bool {
    let moves = state.row?.clock.moves ?? []
    return !moves.isEmpty && moves != formerState.row?.clock.moves ?? []
  }

  /// Whether it was deleted and made again since it was read: what its table has may be of the former row.
  var isNewLife: Bool {
    guard let former = formerState.row, let version = state.row else { return false }
    return former.created < version.created && version.clock.ends(lifeOf: former.clock)
  }

  var isDeleted: Bool { state.isDeleted }

  /// What it is found by in the order of ``precedes(_:)``, without the row itself.
  var order: Order { Order(place: place, name: key.name, rowKey: rowKey) }

  struct Order {
    let place: Int
    let name: String
    let rowKey: RowKey

    func precedes(_ other: Order) -> Bool {
      place != other.place ? place < other.place : UTF8Bytes.order(name, other.name) < 0
    }
  }

  /// The order in which rows are looked at and kept: by table, and by key.
  func precedes(_ other: LoadedRow) -> Bool {
    place != other.place ? place < other.place : UTF8Bytes.order(key.name, other.key.name) < 0
  }
}

extension LoadedRow {
  /// Whether it waits for a row that it refers to.
  var waitsForParent: Bool {
    if case .awaitsParent = state.placement { true } else { false }
  }

  /// Whether it is to have other values than the table has of it.
  var isStale: Bool {
    switch state.placement {
    case .inTable: needsWrite
    case .awaitsParent: true
    case .violates, .heldBy: state.placement.isOfUniqueKey
    case .deletionDeferred: false
    }
  }
}

extension RowEdit {
  /// The number that a counter held before the edit; nil if the edit does not tell.
  fileprivate func formerNumber(of counter: String) -> SQLiteValue? {
    guard case .updated(let changes, _) = self else { return nil }
    switch changes.first(where: { UTF8Bytes.equal($0.name, counter) })?.former {
    case .int64(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .null: return .null
    default: return nil
    }
  }
}
