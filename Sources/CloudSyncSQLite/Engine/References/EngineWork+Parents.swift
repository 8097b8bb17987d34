import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// How the rows of a table are merged: columns that refer to a row together stay together.
  func policy(of table: SyncTable) -> TableMergePolicy {
    var policy = options.table(table.name).merging
    policy.groups = table.columnGroups
    return policy
  }

  /// The row as it is going to be when a record has been merged into it; nil if there will be none.
  private func outcome(of one: Incoming) throws(SQLiteError) -> RowVersion? {
    if !one.row.isEdited || one.isMerged { return one.version.isDeleted ? nil : one.version }
    let values = try rows(of: one.table).values(of: one.key)
    let merged = merged(one.row, one.table, values, with: one.version)
    return merged.local == .none || merged.local == .delete ? nil : merged.merged
  }

  /// Whether there is going to be a row when a record has been merged.
  func isGoingToBe(_ one: Incoming) throws(SQLiteError) -> Bool {
    // Until its edit is answered, nothing happens to it.
    if one.row.isEdited, one.row.operation != nil { return false }
    if one.isNew, one.record[RecordLayout.deletedField] == nil { return true }
    return try outcome(of: one) != nil
  }

  /// The record that a row is going to refer to and that is neither here nor among those that come.
  func missingParent(of one: Incoming, _ coming: Set<String>) throws(SQLiteError) -> String? {
    if !tables.enforcesForeignKeys || !one.table.refersToParents { return nil }
    if one.row.isEdited, one.row.operation != nil, !one.isMerged { return nil }
    guard let row = try outcome(of: one) else { return nil }
    for key in one.table.schema.foreignKeys {
      guard let parent = tables.table(named: key.table) else { continue }
      var values: [SQLiteValue] = []
      for column in key.columns {
        guard let value = row[column]?.value,
          case .value(let stored)? = ValueCodec.decode(value), stored != .null
        else { break }
        values.append(stored)
      }
      // A part that is NULL or unknown refers to nothing.
      guard values.count == key.columns.count else { continue }
      if try rows(of: parent).hasRow(where: key.referencedColumns, values) { continue }
      // Which record has another key than the primary one is not known: any of that table may.
      guard key.referencedColumns == parent.schema.primaryKey else { return parent.anyRecord }
      let name = parent.layout.recordName(key: values)
      // A row may refer to itself.
      if name != one.record.recordID.name, !coming.contains(name) { return name }
    }
    return nil
  }

  /// A row that is to be made in the cloud again, with what other versions of the app know of it.
  func whole(_ local: RowVersion, _ row: RowState) -> RowVersion {
    guard let former = row.former?.rowVersion, let table = tables.byID[row.table] else {
      return local
    }
    var whole = local
    whole.unknownFields = former.unknownFields
    if isNewLife(local, after: former, table) { return whole }
    for column in former.columns where table.schema.column(named: column.name) == nil {
      whole[column.name] = column
    }
    return whole
  }
}

extension SyncTable {
  /// The columns that are chosen together, because a foreign key has several that can change.
  var columnGroups: [[String]] {
    var groups: [[String]] = []
    for key in schema.foreignKeys {
      var group = key.columns.filter { !schema.primaryKey.contains($0) }
      if group.count < 2 { continue }
      for other in groups where other.contains(where: group.contains) {
        group += other.filter { !group.contains($0) }
      }
      groups.removeAll { $0.contains(where: group.contains) }
      groups.append(group)
    }
    return groups
  }
}
