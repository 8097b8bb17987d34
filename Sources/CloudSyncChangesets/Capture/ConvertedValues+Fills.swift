import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What columns make of the constants that rows are filled with: it stands for all rows, of which there may be many.
extension ConvertedValues {
  private static var every: RowKey { RowKey(codedBytes: everyRow) }

  /// Notes what columns here make of constants.
  ///
  /// - Parameters:
  ///   - fills: The constants.
  ///   - areNew: Whether the columns have just been added: what they hold is the constant. Otherwise it is what was written.
  /// - Throws: What is wrong with the database.
  func stand(for fills: [TableDelta.Fill], areNew: Bool) throws(ChangesetError) {
    for fill in fills where areNew || standing[fill.column] == nil {
      guard let held = try made(of: fill.value, in: fill.column) else { continue }
      let conversion = Conversion(said: fill.value, held: held)
      let known = areNew ? [:] : try allRows()
      for key in try areNew ? [] : keys(holding: held, in: fill.column, orHeldAtHead: true)
      where known[key]?[fill.column] == nil {
        try keep(Conversion(said: held, held: held), in: fill.column, of: key)
      }
      try keep(conversion, in: fill.column, of: Self.every)
      standing[fill.column] = conversion
    }
  }

  /// Lets what stands for all rows be that of the columns as they are declared now.
  func retryStanding() throws(ChangesetError) {
    for (column, former) in standing {
      let isThere = tracked.hasColumn(column)
      let held = isThere ? try made(of: former.said, in: column) : nil
      if isThere, held == former.held { continue }
      let known = try allRows()
      let keys = isThere ? try keys(holding: former.held, in: column, orHeldAtHead: false) : []
      try forget(key: Self.every, column: column)
      standing[column] = nil
      if let held {
        let conversion = Conversion(said: former.said, held: held)
        try keep(conversion, in: column, of: Self.every)
        standing[column] = conversion
      }
      for key in keys where known[key]?[column] == nil {
        try write(former.said, in: column, of: key)
      }
    }
  }

  /// What a column makes of a value; nil if it keeps it as it is.
  private func made(
    of value: SQLiteValue,
    in column: String
  ) throws(ChangesetError) -> SQLiteValue? {
    guard tracked.mayConvert(value, in: column),
      let type = tracked.schema.column(named: column)?.type
    else { return nil }
    let held = try ColumnDefault.stored(value, as: type)
    return held == value ? nil : held
  }

  /// The rows that hold a value, and, if these are meant too, those that held it at HEAD and were edited since.
  private func keys(
    holding value: SQLiteValue,
    in column: String,
    orHeldAtHead isOfHead: Bool
  ) throws(ChangesetError) -> [RowKey] {
    guard let place = tracked.columns.firstIndex(where: { $0.hasSameBytes(as: column) }) else {
      return []
    }
    let list = tracked.key.map(\.quotedName).joined(separator: ", ")
    let kept = tracked.key.indices.map { "k\($0)" }.joined(separator: ", ")
    func condition(_ name: String) -> String {
      "\(name) IS ?1 COLLATE BINARY AND typeof(\(name)) = typeof(?1)"
    }
    var sql =
      "SELECT \(list) FROM main.\(tracked.name.quotedName) WHERE \(condition(column.quotedName))"
    if isOfHead {
      let former = condition("c\(place)")
      sql += " UNION ALL SELECT \(kept) FROM main.\(tracked.mirror) WHERE was = 1 AND \(former)"
    }
    return try connection.failing { () throws(SQLiteError) in
      try connection.bound(sql: sql, [value])
        .mapRows { row in RowKey(tracked.key.indices.map { row.value(Int32($0)) }) }
    }
  }
}
