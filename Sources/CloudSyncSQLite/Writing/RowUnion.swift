import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes one row of two: what refers to the one that goes refers to the one that stays.
///
/// Every device may do it, at whatever moment: all edits have times that follow from the two rows.
struct RowUnion: TransactionPart {
  let transaction: SyncTransaction

  /// Unites two rows of one table; returns whether that could be done.
  func unite(
    _ gone: LoadedRow,
    into kept: LoadedRow
  ) throws(SQLiteError) -> Bool {
    guard let own = kept.state.row, let other = gone.state.row else { return false }
    let table = transaction.tables[kept.place]
    var columns = columns(of: own, and: other, in: table)
    for link in transaction.tables.links(to: gone.place) where link.child == gone.place {
      keepOutside(&columns, by: link, of: gone, having: other, into: kept, with: own)
    }
    return try unite(gone, into: kept, taking: columns)
  }

  /// Has the union of a row with its own parent, or its own child, refer to what one of the two refers to besides: no row is
  /// its own parent that was not.
  private func keepOutside(
    _ columns: inout [VersionedColumn],
    by link: TableLink,
    of gone: LoadedRow,
    having other: RecordVersion,
    into kept: LoadedRow,
    with own: RecordVersion
  ) {
    var union = own
    for column in columns { union.set(column) }
    let ends = [
      transaction.values(of: link.referencedColumns, in: gone, version: other),
      transaction.values(of: link.referencedColumns, in: kept, version: union),
    ]
    .compactMap(\.self)
    let isInside = { (version: RecordVersion) in
      ends.contains { transaction.tables.refers(version, by: link, to: $0) }
    }
    guard isInside(union), let outside = [own, other].first(where: { !isInside($0) }) else {
      return
    }
    for name in link.columns {
      let last = max(own.latest(of: name)?.time ?? .zero, other.latest(of: name)?.time ?? .zero)
      let value = outside.value(of: name) ?? .null
      columns.removeAll { UTF8Bytes.equal($0.name, name) }
      columns.append(VersionedColumn(name: name, value: value, time: last.successor))
    }
  }

  /// Gives a row other values in columns of its key: it goes into the row that has that key, or becomes it.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - columns: The columns.
  ///   - values: What they are to hold.
  /// - Returns: Whether that could be done.
  /// - Throws: SQLite's reason.
  func move(
    _ row: LoadedRow,
    from columns: [String],
    to values: [SQLiteValue]
  ) throws(SQLiteError) -> Bool {
    let row = try transaction.adopted(row.key, in: row.place)
    let table = transaction.tables[row.place]
    guard var moved = row.state.row, !row.isDeleted else { return false }
    for (name, value) in zip(columns, values) {
      let time = moved.clock.time(of: name).map(\.successor) ?? .zero
      moved.set(
        VersionedColumn(name: name, value: table.fieldValue(value, of: name), time: time)
      )
    }
    guard let spelled = transaction.values(of: table.key, in: row, version: moved) else {
      return false
    }
    let kept = try transaction.adopted(table.format.key(spelled: spelled), in: row.place)
    if kept.rowKey == row.rowKey { return false }
    let isThere = !kept.isDeleted
    let changes =
      isThere
      ? self.columns(of: kept.state.row ?? RecordVersion(), and: moved, in: table)
      : moved.columnNames.compactMap { moved.latest(of: $0) }
    return try unite(row, into: kept, taking: changes)
  }

  /// Unites rows, of which the one that stays gets these columns.
  private func unite(
    _ gone: LoadedRow,
    into kept: LoadedRow,
    taking columns: [VersionedColumn]
  ) throws(SQLiteError) -> Bool {
    guard let other = gone.state.row, try transaction.removal.isFree(gone) else { return false }
    var union = kept.state.row ?? RecordVersion()
    for column in columns { union.set(column) }
    for link in transaction.tables.links(to: gone.place) where link.child != nil {
      guard let old = transaction.values(of: link.referencedColumns, in: gone, version: other),
        let new = transaction.values(of: link.referencedColumns, in: kept, version: union),
        transaction.tables.compared(old, by: link) != transaction.tables.compared(new, by: link)
      else { continue }
      for key in try children(of: gone, referringTo: old, by: link) {
        try redirect(key, by: link, from: old, to: new)
      }
    }
    guard try transaction.removal.evict(gone.rowKey) != nil else { return false }
    // A row that takes a key which no other has is none the less the only one.
    if !kept.isDeleted { note(gone.key, into: kept.key, in: gone.place) }
    try transaction.edit(.deleted([], at: .zero), of: gone)
    try transaction.edit(.settled(columns, created: other.created), of: kept)
    try MovedRows(transaction: transaction).note(other, of: gone, in: kept)
    return true
  }

  /// Notes that a row of a table has become one with another one, for those who want to know.
  func note(_ gone: RecordKey, into kept: RecordKey, in place: Int) {
    let table = tables[place]
    transaction.united.append(
      UnitedRow(
        table: table.name,
        key: gone.values.map(table.transport.keyValue),
        keptKey: kept.values.map(table.transport.keyValue)
      )
    )
    transaction.counts.united += 1
  }

  // MARK: References

  /// The rows that refer to a row, in their tables or as they are to be, in a fixed order.
  private func children(
    of row: LoadedRow,
    referringTo values: [SQLiteValue],
    by link: TableLink
  ) throws(SQLiteError) -> [RowKey] {
    let inTable = row.values == nil ? [] : try transaction.children(of: row, by: link)
    let beside = try transaction.loose.children(referringTo: values, by: link, in: transaction)
      .subtracting(inTable)
      .sorted { UTF8Bytes.order($0.key.literal, $1.key.literal) < 0 }
    return inTable + beside
  }

  private func redirect(
    _ key: RowKey,
    by link: TableLink,
    from old: [SQLiteValue],
    to new: [SQLiteValue]
  ) throws(SQLiteError) {
    guard let found = try transaction.row(key) else { return }
    let row = try transaction.adopted(found.key, in: found.place)
    let table = transaction.tables[row.place]
    guard let version = row.state.row, !row.isDeleted,
      transaction.tables.refers(version, by: link, to: old)
    else { return }
    if link.isInKeyOfChild {
      _ = try move(row, from: link.columns, to: new)
      return
    }
    let changes = zip(link.columns, new)
      .map { name, value in
        VersionedColumn(name: name, value: table.fieldValue(value, of: name), time: .zero)
      }
    let isWritten = row.values != nil && row.state.placement == .inTable && !row.needsWrite
    try transaction.edit(.settled(changes, created: .zero), of: row)
    // While it still refers to the row that goes, that one cannot go without it.
    if isWritten { _ = try transaction.writing.write(row.rowKey) }
  }

  // MARK: Columns

  /// What changes in the row that stays, by the policies of the columns.
  private func columns(
    of kept: RecordVersion,
    and gone: RecordVersion,
    in table: RecordTable
  ) -> [VersionedColumn] {
    let unknown = gone.columns(missingIn: table).map(\.name)
    return (table.columns + unknown)
      .compactMap { name in
        guard !table.key.contains(name), let other = gone.latest(of: name) else { return nil }
        guard let own = kept.latest(of: name) else { return other }
        if ValueContent.areEqual(own.value, other.value) { return nil }
        let value = value(of: own, and: other, policy: table.rules.policy.policy(for: name))
        if ValueContent.areEqual(own.value, value) { return nil }
        return VersionedColumn(name: name, value: value, time: max(own.time, other.time))
      }
  }

  private func value(
    of kept: VersionedColumn,
    and gone: VersionedColumn,
    policy: MergePolicy
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
    version: RecordVersion
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
