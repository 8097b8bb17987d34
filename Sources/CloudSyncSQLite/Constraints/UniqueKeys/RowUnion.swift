import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes one row of two: what refers to the one that goes refers to the one that stays.
///
/// Every device may do it, at whatever moment: all edits have times that follow from the two rows.
struct RowUnion {
  /// What rows beside their tables refer to.
  var beside: ReferencesBeside

  init(_ transaction: SyncTransaction) throws(SQLiteError) {
    beside = try ReferencesBeside(transaction)
  }

  /// Unites two rows of one table; returns whether that could be done.
  mutating func unite(
    _ gone: LoadedRow,
    into kept: LoadedRow,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) -> Bool {
    guard let own = kept.state.row, let other = gone.state.row, try transaction.isFree(gone)
    else { return false }
    let table = transaction.tables[kept.place]
    let columns = Self.columns(of: own, and: other, table)
    return try unite(gone, into: kept, columns, &transaction)
  }

  /// Unites rows, of which the one that stays gets these columns.
  private mutating func unite(
    _ gone: LoadedRow,
    into kept: LoadedRow,
    _ columns: [VersionedColumn],
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) -> Bool {
    guard let other = gone.state.row else { return false }
    var union = kept.state.row ?? RecordVersion()
    for column in columns { union.set(column) }
    let tables = transaction.tables
    for (number, link) in tables.links.enumerated() where link.parent == gone.place {
      guard let child = link.child,
        let old = transaction.values(of: link.referencedColumns, in: gone, other),
        let new = transaction.values(of: link.referencedColumns, in: kept, union),
        tables.compared(old, link) != tables.compared(new, link)
      else { continue }
      let rows = tables[child].rows(transaction.connection)
      for key in try rows.keys(where: link.columns, old) {
        let row = try transaction.adopted(tables[child].format.key(spelled: key), in: child)
        try redirect(row, link, from: old, to: new, &transaction)
      }
      let others = beside.rows(referringBy: number, to: old, tables)
        .sorted { UTF8Bytes.order($0.key.literal, $1.key.literal) < 0 }
      for key in others {
        guard let row = try transaction.row(key), row.values == nil else { continue }
        try redirect(row, link, from: old, to: new, &transaction)
      }
    }
    guard let family = try transaction.takeOut(gone.rowKey) else { return false }
    try transaction.edit(.deleted([], at: .zero), of: gone)
    // Rows that others have added to it follow.
    try transaction.reduce(.edited(.renamed(to: kept.key.name)), gone.key, in: gone.place)
    try transaction.edit(.settled(columns, created: other.created), of: kept)
    for key in family { if let row = try transaction.row(key) { beside.add(row, tables) } }
    return true
  }

  // MARK: References

  private mutating func redirect(
    _ row: LoadedRow,
    _ link: TableLink,
    from old: [SQLiteValue],
    to new: [SQLiteValue],
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    let table = transaction.tables[row.place]
    guard let version = row.state.row, !row.isDeleted(table.rules),
      transaction.tables.refers(version, by: link, to: old)
    else { return }
    let changes = zip(link.columns, new)
      .map { name, value in
        VersionedColumn(name: name, value: table.transport.fieldValue(value), time: .zero)
      }
    if link.columns.contains(where: { table.key.contains($0) }) {
      return try move(row, version, changes, &transaction)
    }
    let isWritten = row.values != nil && row.state.placement == .inTable && !row.needsWrite
    try transaction.edit(.settled(changes, created: .zero), of: row)
    if isWritten {
      // While it still refers to the row that goes, that one cannot go without it.
      _ = try transaction.write(row.rowKey)
    } else if let row = try transaction.row(row.rowKey) {
      beside.add(row, transaction.tables)
    }
  }

  /// Gives a row another key: it goes into the row that has it, or becomes it.
  private mutating func move(
    _ row: LoadedRow,
    _ version: RecordVersion,
    _ changes: [VersionedColumn],
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    let table = transaction.tables[row.place]
    var moved = version
    for change in changes {
      let time = version.clock.time(of: change.name).map(\.successor) ?? .zero
      moved.set(VersionedColumn(name: change.name, value: change.value, time: time))
    }
    guard let spelled = transaction.values(of: table.key, in: row, moved) else { return }
    let kept = try transaction.adopted(table.format.key(spelled: spelled), in: row.place)
    if kept.rowKey == row.rowKey { return }
    let isThere = !kept.isDeleted(table.rules)
    let columns =
      isThere
      ? Self.columns(of: kept.state.row ?? RecordVersion(), and: moved, table)
      : moved.columnNames.compactMap { moved.latest(of: $0) }
    _ = try unite(row, into: kept, columns, &transaction)
    if let row = try transaction.row(kept.rowKey) { beside.add(row, transaction.tables) }
  }

  // MARK: Columns

  /// What changes in the row that stays, by the policies of the columns.
  private static func columns(
    of kept: RecordVersion,
    and gone: RecordVersion,
    _ table: RecordTable
  ) -> [VersionedColumn] {
    table.columns.compactMap { name in
      guard !table.key.contains(name), let other = gone.latest(of: name) else { return nil }
      guard let own = kept.latest(of: name) else { return other }
      if ValueContent.areEqual(own.value, other.value) { return nil }
      let value = value(own, other, table.rules.policy.policy(for: name))
      if ValueContent.areEqual(own.value, value) { return nil }
      return VersionedColumn(name: name, value: value, time: max(own.time, other.time))
    }
  }

  private static func value(
    _ kept: VersionedColumn,
    _ gone: VersionedColumn,
    _ policy: MergePolicy
  ) -> FieldValue {
    let conflict = ColumnConflict(
      column: kept.name,
      ancestor: nil,
      local: kept.value,
      localTime: kept.time,
      server: gone.value,
      serverTime: gone.time
    )
    return switch policy.kind {
    case .newest, .client, .server: conflict.newest
    // A sum would grow each time that a device makes it.
    case .counter, .maximum: MergePolicy.maximum.merge(conflict)
    case .setUnion, .custom: policy.merge(conflict)
    }
  }
}

extension RecordVersion {
  /// A column's value, and when it was set or counted last; nil if the side does not know it.
  fileprivate func latest(of name: String) -> VersionedColumn? {
    guard let value = value(of: name) else { return nil }
    var time = self[name]?.time ?? .zero
    for share in clock.shares where UTF8Bytes.equal(share.column, name) {
      time = max(time, share.time)
    }
    return VersionedColumn(name: name, value: value, time: time)
  }
}

extension SyncTransaction {
  /// What a row has in columns that others refer to; nil if one is NULL or unknown.
  fileprivate func values(
    of columns: [String],
    in row: LoadedRow,
    _ version: RecordVersion
  ) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for name in columns {
      if let value = version.storedValues(of: [name]) {
        values += value
      } else if let number = tables[row.place].key.firstIndex(of: name) {
        values.append(row.key.values[number])
      } else {
        return nil
      }
    }
    return values
  }
}
