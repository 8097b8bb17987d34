import CloudSyncCore
import CloudSyncSQLiteSupport

/// What somebody has changed in a row's table while nobody captured.
struct UnseenEdits: TransactionPart {
  let transaction: SyncTransaction

  /// Takes what somebody has changed in a clean row while nobody captured: its digest tells that, and what the
  /// cloud has which columns they are.
  func take(
    of key: RecordKey,
    in place: Int,
    beside version: RecordVersion,
    tag: String
  ) throws(SQLiteError) {
    let row = try row(key, in: place)
    // An answer of the same transaction may have brought what the table does not have yet: that is no edit.
    if row.isOutdated { return }
    if row.isLost, try isCloudRight(about: row, in: .restores) {
      // Of edits that were not sent the values are gone with the row.
      return keep(row.restored(to: version))
    }
    let table = tables[place]
    // One that was filled in a new column is not clean any more, and may have been changed besides.
    if row.source == .pending || row.isChangedUnseen {
      return try takeUnseenColumns(of: row, beside: version)
    }
    guard row.source == .known, !row.state.isDirty, let mine = row.state.row,
      let known = try stored.known.row(row.rowKey)
    else { return }
    if known.digest == row.values.map(table.digest) {
      return try takeHiddenColumns(of: row, than: mine, beside: version)
    }
    if try isCloudRight(about: row, in: .rebuilds) {
      if UTF8Bytes.equal(known.tag, tag) { keep(row.restored(to: version)) }
      return
    }
    guard let values = row.values else { return }
    var compared = row
    compared.isCompared = true
    keep(compared)
    try takeCounters(of: compared)
    try takeColumns(of: self.row(key, in: place), values: values, than: mine, beside: version)
  }

  /// Whether what the cloud has counts, and not what the table has: in a fetch that is for that, or where the engine itself has
  /// changed the table.
  private func isCloudRight(
    about row: LoadedRow,
    in mode: FullFetch
  ) throws(SQLiteError) -> Bool {
    if try transaction.isOverwritten(table: row.rowKey.table) { return true }
    return try transaction.fullFetch() == mode
  }

  /// Takes for edited what a table that is to be compared has of a row whose record is gone with its zone: nothing tells any
  /// more which of its columns somebody has changed unseen.
  ///
  /// Each is later than the version that was known, and than nothing else: edits of others outrank it.
  func takeUntold(of key: RecordKey, in place: Int) throws(SQLiteError) {
    let table = tables[place]
    try takeCounters(of: key, in: place)
    let row = try row(key, in: place)
    guard let values = row.values, let mine = row.state.row, let record = row.state.known,
      row.state.placement == .inTable, !row.isDeleted, !row.isOutdated
    else { return }
    if row.source == .pending {
      // No digest tells of a row that was edited besides.
      guard try facts.unreconciledTables().contains(table.id) else { return }
    } else if row.digest == table.digest(of: values, without: row.unwrittenColumns) {
      return
    }
    let untold = table.edits(of: values)
      .filter { edit in
        !table.rules.isCounter(edit.name) && isInStep(edit.name, of: mine, with: record)
          && !row.unwrittenColumns.contains { UTF8Bytes.equal($0, edit.name) }
      }
    try take(changed: [], converted: untold, of: row)
  }

  /// Whether the cloud is known to have had a column as it is here, and has an older version now; no counter is compared.
  private func isNewer(
    _ column: String,
    of mine: RecordVersion,
    in row: LoadedRow,
    than theirs: VersionedColumn?
  ) -> Bool {
    guard let theirs, let record = row.state.known, let time = mine.clock.time(of: column),
      !tables[row.place].rules.isCounter(column)
    else { return false }
    return time > theirs.time && isInStep(column, of: mine, with: record)
  }

  /// Whether a column is of the version that the cloud is known to have had.
  private func isInStep(
    _ column: String,
    of mine: RecordVersion,
    with record: CloudRecord
  ) -> Bool {
    guard let time = mine.clock.time(of: column) else { return false }
    return record.clock.time(of: column) == time
  }

  /// Ends a row that its table has lost: somebody has deleted it unseen.
  ///
  /// - Returns: The row.
  /// - Throws: SQLite's reason.
  @discardableResult
  func end(lost row: LoadedRow) throws(SQLiteError) -> LoadedRow {
    let table = tables[row.place]
    if table.filter != nil {
      // Nobody knows whether it was one of those that are sent.
      var row = row
      row.endsMismatched = true
      keep(row)
    }
    let edit = RowEdit.lost(table.columns, at: try transaction.nextTime())
    return try reduce(.edited(edit), of: row.key, in: row.place)
  }

  /// Takes what somebody has changed unseen in a row of which another column was edited and sent since: its digest is of all
  /// that the row had then, and only the cloud's record tells.
  private func takeHiddenColumns(
    of row: LoadedRow,
    than mine: RecordVersion,
    beside version: RecordVersion
  ) throws(SQLiteError) {
    guard row.state.placement == .inTable, let values = row.values,
      try transaction.isRebuilt(table: row.rowKey.table)
    else { return }
    try takeColumns(of: row, values: values, than: mine, beside: version, isHidden: true)
  }

  /// Takes what somebody has changed unseen in a row that was edited too: nothing but the cloud's record tells it, and
  /// only while its table is to be compared.
  private func takeUnseenColumns(
    of row: LoadedRow,
    beside version: RecordVersion
  ) throws(SQLiteError) {
    guard row.state.placement == .inTable, let values = row.values, let mine = row.state.row,
      !row.isDeleted,
      try facts.unreconciledTables().contains(row.rowKey.table)
    else { return }
    try takeCounters(of: row)
    try takeColumns(
      of: self.row(row.key, in: row.place),
      values: values,
      than: mine,
      beside: version
    )
  }

  /// Takes the columns as edited that the cloud has in the version known here, with another value.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - values: What its table has.
  ///   - mine: What is known of it.
  ///   - version: What the cloud has.
  ///   - isHidden: Whether the table has what it had when the row was stored last: then nothing was converted.
  /// - Throws: SQLite's reason.
  private func takeColumns(
    of row: LoadedRow,
    values: [SQLiteValue],
    than mine: RecordVersion,
    beside version: RecordVersion,
    isHidden: Bool = false
  ) throws(SQLiteError) {
    // Of another row that has the key now the table has nothing: times that agree do so by chance.
    guard mine.created == version.created else { return }
    let table = tables[row.place]
    let formerNames = try FormerColumns(connection: connection).names(of: table.id)
    let formerTypes = try FormerTypes(connection: connection).types(of: table.id)
    var (changed, converted): ([ColumnEdit], [ColumnEdit]) = ([], [])
    let fetchesAll = try transaction.isFetchingAll()
    let isSetBack = !isHidden && fetchesAll
    var own = row
    for edit in table.edits(of: values) {
      let formerName = formerNames[edit.name]
      // Others have set it under its new name before the table was rebuilt, which has the former one's value.
      if let theirs = version[edit.name], let former = formerName.flatMap({ version[$0] }),
        ValueContent.areEqual(former.value, edit.value)
      {
        own.restore(theirs)
        continue
      }
      // One that was dropped and added again has lost what the cloud has; a default that nothing replaces stays.
      if let formerName, UTF8Bytes.equal(formerName, edit.name), let theirs = version[edit.name],
        theirs.value != .null, let number = table.places.number(of: edit.name),
        table.isDefault(edit.value, at: number)
      {
        // One that was edited stays: nothing tells whether that was before it was dropped, or whether it was dropped at all.
        own.restore(theirs)
        continue
      }
      // What is kept beside the table is not in it yet, if its column has just been added. What that was filled with is older
      // than every edit.
      let isAdded =
        formerName == nil
        && row.unwrittenColumns.contains { UTF8Bytes.equal($0, edit.name) }
      let theirs = version[edit.name] ?? formerName.flatMap { version[$0] }
      // A cloud that was set back to what it was before does not tell either.
      if !isAdded, isSetBack, isNewer(edit.name, of: mine, in: row, than: theirs) {
        converted.append(ColumnEdit(name: edit.name, value: edit.value))
        continue
      }
      guard !isAdded, let theirs,
        let former = formerValue(
          of: theirs,
          as: edit.name,
          in: row,
          than: mine,
          isRenamed: formerName != nil
        ),
        !ValueContent.areEqual(former, edit.value)
      else { continue }
      if isImage(edit, of: theirs, in: table, formerly: formerTypes[edit.name]) {
        // Where the new type can hold what the cloud has, it is taken back.
        if formerTypes[edit.name] != nil { own.restore(theirs) }
        continue
      }
      let change = ColumnEdit(name: edit.name, value: edit.value, former: former)
      if ValueConversion.isConversion(edit.value, of: former) {
        if !isHidden { converted.append(change) }
      } else {
        changed.append(change)
      }
    }
    if own.isOutdated { keep(own) }
    try take(changed: changed, converted: converted, of: row)
  }

  /// Takes columns that were changed unseen as edited now, and those that a migration has converted as edited then.
  private func take(
    changed: [ColumnEdit],
    converted: [ColumnEdit],
    of row: LoadedRow
  ) throws(SQLiteError) {
    // Edits of others outrank it: it is later than the version that was converted, and than nothing else.
    if !converted.isEmpty {
      try reduce(.edited(.updated(converted, at: .zero)), of: row.key, in: row.place)
    }
    if changed.isEmpty { return }
    try reduce(
      .edited(.updated(changed, at: try transaction.nextTime())),
      of: row.key,
      in: row.place
    )
  }

  /// Whether a column's type has made a value of what the cloud has, or a migration of what its former type had made of that:
  /// nobody has edited it.
  private func isImage(
    _ edit: ColumnEdit,
    of theirs: VersionedColumn,
    in table: RecordTable,
    formerly type: String?
  ) -> Bool {
    guard let type else { return table.rules.isImage(edit.name, edit.value, theirs.value) }
    guard let column = table.schema.column(named: edit.name) else { return false }
    return ColumnImage.isConvertedImage(
      edit.value,
      of: theirs.value,
      from: ColumnImage.Affinity(type: type),
      to: column.affinity
    )
  }

  /// What the cloud has in a column in the version known here; nil if it has another version, or has differed before.
  ///
  /// - Parameters:
  ///   - theirs: The cloud's version of it, which may have the name that it had before the table was rebuilt.
  ///   - column: The name that it has here.
  ///   - row: The row.
  ///   - mine: What is known of it.
  ///   - isRenamed: Whether the table had the column before, under another name.
  /// - Returns: The value.
  private func formerValue(
    of theirs: VersionedColumn,
    as column: String,
    in row: LoadedRow,
    than mine: RecordVersion,
    isRenamed: Bool
  ) -> FieldValue? {
    // Of a row whose record is gone others have made it anew: what was changed unseen here was taken then.
    guard row.state.known != nil else { return nil }
    // What the cloud has changed meanwhile is taken from there, unless it was no more than converted.
    guard let known = mine.clock.time(of: column),
      theirs.time == known
        || RecordClock.isConversion(from: known, to: theirs.time)
          && !tables[row.place].followsKeys(column),
      row.state.known?.differing.contains(where: { UTF8Bytes.equal($0, column) }) != true
    else { return nil }
    // Of that time is also what others have filled a new column with: there is nothing to compare it with.
    if known == .zero, theirs.time != known, !isRenamed, !tables[row.place].hasOtherKind(column) {
      return nil
    }
    return theirs.value
  }

  // MARK: Counters

  /// Takes what was added unseen to counters of a row whose table is to be compared.
  ///
  /// It is done before anything else happens to the row: that would write over it.
  ///
  /// - Parameters:
  ///   - key: The row's.
  ///   - place: The place of its table.
  ///   - edits: What was captured since then.
  /// - Throws: SQLite's reason.
  func takeCounters(
    of key: RecordKey,
    in place: Int,
    before edits: [RowEdit] = []
  ) throws(SQLiteError) {
    let table = tables[place]
    guard table.hasCounters,
      try facts.unreconciledTables().contains(table.id)
    else { return }
    try takeCounters(of: row(key, in: place), before: edits)
  }

  /// Takes as added by what a counter differs from the sum of all that is known to have been added.
  private func takeCounters(
    of row: LoadedRow,
    before edits: [RowEdit] = []
  ) throws(SQLiteError) {
    let table = tables[row.place]
    guard let mine = row.state.row, row.values != nil, row.state.placement == .inTable,
      !row.isDeleted, !row.isOutdated
    else { return }
    let added = try transaction.addedCounters(of: table.id)
    var changed: [ColumnEdit] = []
    for edit in row.columns(before: edits, in: table)
    where table.rules.isCounter(edit.name) && mine[edit.name] == nil {
      guard let sum = mine.value(of: edit.name), edit.isOfOther(sum: sum),
        !row.unwrittenColumns.contains(where: { UTF8Bytes.equal($0, edit.name) })
      else { continue }
      if added.contains(edit.name) {
        var outdated = row
        outdated.needsWrite = true
        keep(outdated)
        continue
      }
      changed.append(ColumnEdit(name: edit.name, value: edit.value, former: sum))
    }
    if changed.isEmpty { return }
    try reduce(
      .edited(.updated(changed, at: try transaction.nextTime())),
      of: row.key,
      in: row.place
    )
  }
}

extension LoadedRow {
  /// What the table had in the row's columns before it was edited.
  func columns(before edits: [RowEdit], in table: RecordTable) -> [ColumnEdit] {
    var columns = values.map { table.edits(of: $0) } ?? []
    for edit in edits.reversed() {
      switch edit {
      case .updated(let changes, _):
        for change in changes {
          guard let former = change.former,
            let place = columns.firstIndex(where: { UTF8Bytes.equal($0.name, change.name) })
          else { continue }
          columns[place].value = former
        }
      case .deleted(let former, _): columns = former
      case .inserted, .lost, .found, .restored, .renamed, .settled, .moved, .handed,
        .withheld, .referred:
        break
      }
    }
    return columns
  }
}

extension RecordTable {
  /// What a row has in columns of which nothing tells whether they were changed unseen, counters aside.
  ///
  /// - Parameters:
  ///   - values: What the table has.
  ///   - unwritten: The columns whose values are beside the table still.
  ///   - isMeant: Which of the others count.
  /// - Returns: The columns with their values.
  func untoldEdits(
    of values: [SQLiteValue],
    besides unwritten: [String],
    where isMeant: (String) -> Bool
  ) -> [ColumnEdit] {
    edits(of: values)
      .filter { edit in
        !rules.isCounter(edit.name) && isMeant(edit.name)
          && !unwritten.contains { UTF8Bytes.equal($0, edit.name) }
      }
  }

  /// Whether a column's type is another one than when the cloud first got it: a migration has converted its values.
  fileprivate func hasOtherKind(_ column: String) -> Bool {
    format.fields(of: column)?.kind != captured.schema.column(named: column)?.kind
  }

  /// Whether a column changes with a key that it refers to: no migration need have converted it then.
  fileprivate func followsKeys(_ column: String) -> Bool {
    schema.foreignKeys.contains { $0.onUpdate == .cascade && $0.columns.contains(column) }
  }

  /// Whether one of its columns is a counter.
  var hasCounters: Bool { columns.contains { rules.isCounter($0) } }
}

extension ColumnEdit {
  /// Whether a counter holds something else than the sum of what was added.
  fileprivate func isOfOther(sum: FieldValue) -> Bool {
    guard let sum = CounterSum(sum), let present = CounterSum(value) else { return value == .null }
    let added = present - sum
    return added != .zero && added != .real(0)
  }
}
