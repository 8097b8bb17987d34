import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// When a row's unique keys were set last, and which row it is.
struct UniqueKeyRank: Comparable {
  var time: HybridTime
  var name: String

  static func < (lhs: Self, rhs: Self) -> Bool {
    // Of two at the same time the one with the smaller name is newer.
    lhs.time == rhs.time ? UTF8Bytes.order(lhs.name, rhs.name) > 0 : lhs.time < rhs.time
  }
}

/// A row in the table that holds values which another row is to have.
struct UniqueKeyHolder {
  var row: LoadedRow
  /// The key, by its number among the table's, and what it looks at.
  var number: Int
  var search: UniqueKeySearch
}

extension SyncTransaction {
  /// When the columns were set last that the table's unique keys look at.
  func rank(of row: LoadedRow) -> UniqueKeyRank {
    var time = HybridTime.zero
    if let clock = row.state.row?.clock {
      for column in tables[row.place].keyedColumns {
        time = max(time, clock.time(of: column) ?? .zero)
        for share in clock.shares where UTF8Bytes.equal(share.column, column) {
          time = max(time, share.time)
        }
      }
    }
    return UniqueKeyRank(time: time, name: row.key.name)
  }

  /// The rows in the table that hold what a row is to have.
  func holders(
    of version: RecordVersion,
    for row: LoadedRow
  ) throws(SQLiteError) -> [UniqueKeyHolder] {
    let table = tables[row.place]
    var bound: [SQLiteValue] = []
    var candidate: [String] = []
    for (place, column) in table.schema.writableColumns.enumerated() {
      guard table.keyedColumns.contains(column.name) || table.key.contains(column.name) else {
        candidate.append("NULL")
        continue
      }
      if let value = try table.stored(column.name, of: version, over: row.values) {
        bound.append(value)
      } else if let number = table.key.firstIndex(of: column.name) {
        bound.append(row.key.values[number])
      } else if let values = row.values {
        bound.append(values[place])
      } else {
        candidate.append("(\(column.defaultSQL ?? "NULL"))")
        continue
      }
      candidate.append("?\(bound.count)")
    }
    let ownKey = table.keyCondition(from: bound.count + 1)
    var holders: [UniqueKeyHolder] = []
    for (number, search) in table.searches.enumerated() {
      let sql = search.sql(in: table.schema, candidate: candidate, ownKey: ownKey)
      let query = try connection.statement(sql)
      for (place, value) in (bound + row.key.values).enumerated() {
        query.bind(value, at: Int32(place + 1))
      }
      let found = try query.mapRows { query in table.key.indices.map { query.value(Int32($0)) } }
      for key in found {
        let holder = try adopted(table.format.key(spelled: key), in: row.place)
        holders.append(UniqueKeyHolder(row: holder, number: number, search: search))
      }
    }
    return holders
  }

  /// Whether a row refers to another one, itself or by rows that it refers to.
  func refers(_ row: LoadedRow, to other: RecordKey) throws(SQLiteError) -> Bool {
    var seen: Set<RecordKey> = []
    var next = [row]
    while let one = next.popLast() {
      guard let version = one.state.row else { continue }
      for link in tables.links(from: one.place) where link.refersToKey {
        guard let values = version.storedValues(of: link.columns) else { continue }
        let key = tables[link.parent].format.key(spelled: values)
        if key == other { return true }
        if seen.insert(key).inserted { next.append(try self.row(key, in: link.parent)) }
      }
    }
    return false
  }
}
