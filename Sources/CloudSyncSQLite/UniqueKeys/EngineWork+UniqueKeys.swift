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
struct KeyHolder {
  var row: RowState
  /// The key, by its number among the table's, and what it looks at.
  var number: Int
  var search: UniqueKeySearch
  /// The row as it is to be, which may differ from what is in the table.
  var version: RowVersion
  var rank: UniqueKeyRank
}

extension EngineWork {
  /// When the columns were set last that the table's unique keys look at.
  func rank(of row: RowState, _ table: SyncTable, _ version: RowVersion?) -> UniqueKeyRank {
    var time = HybridTime.zero
    for column in table.keyedColumns { time = max(time, version?[column]?.time ?? .zero) }
    return UniqueKeyRank(time: time, name: row.recordName)
  }

  /// The rows in the table that hold what a row is to have; nil if one of them is not the engine's.
  func holders(
    of whole: RowVersion,
    _ row: RowState,
    _ table: SyncTable
  ) throws(SQLiteError) -> [KeyHolder]? {
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    var bound: [SQLiteValue] = []
    var candidate: [String] = []
    for (place, column) in table.schema.writableColumns.enumerated() {
      if let number = table.schema.primaryKey.firstIndex(of: column.name) {
        bound.append(key[number])
      } else if let known = whole[column.name]?.value,
        case .value(let value)? = ValueCodec.decode(known)
      {
        bound.append(value)
      } else if let values {
        bound.append(values[place])
      } else {
        candidate.append("(\(column.defaultSQL ?? "NULL"))")
        continue
      }
      candidate.append("?\(bound.count)")
    }
    let ownKey = table.keyCondition(from: bound.count + 1)
    var holders: [KeyHolder] = []
    for (number, search) in table.searches.enumerated() {
      let query = try connection.statement(
        search.sql(in: table.schema, candidate: candidate, ownKey: ownKey)
      )
      for (place, value) in (bound + key).enumerated() { query.bind(value, at: Int32(place + 1)) }
      var keys: [[SQLiteValue]] = []
      try query.forEachRow {
        keys.append(table.schema.primaryKey.indices.map { query.value(Int32($0)) })
      }
      for found in keys {
        let name = try table.key(of: found, in: connection)
        guard let state = try store.row(table.id, name) else { return nil }
        let present = try rows(of: table).values(of: found)
        let server = state.server?.rowVersion
        let stored = version(of: state, table, values: present, server: server)
        let version = try inlined(stored, of: state, table)
        let rank = rank(of: state, table, version)
        holders.append(
          KeyHolder(row: state, number: number, search: search, version: version, rank: rank)
        )
      }
    }
    return holders
  }

  /// Settles which of the rows that may not all be in a table is; the others stay beside it.
  ///
  /// The row is the one that SQLite has refused, beside the table already, and whole what it is to be.
  /// Tells whether it is in the table now.
  func arbitrate(
    _ one: Incoming,
    _ row: RowState,
    _ whole: RowVersion,
    isFinal: Bool = false
  ) throws(SQLiteError) -> Bool {
    let table = one.table
    // Until it is settled, rows stay; but one that is to have another value goes out of the way.
    let byAge = isFinal || (options.table(table.name).uniqueKeys?.isNewest ?? true)
    let own = rank(of: row, table, whole)
    for _ in 0...table.searches.count {
      guard let holders = try holders(of: whole, row, table), !holders.isEmpty else { return false }
      for holder in holders {
        let isBeaten =
          byAge
          ? try beats(row, whole, own, holder, table)
          : holder.row.shelf != nil && holder.row.shelfCode.map(Refusal.isUnique) == true
        guard isBeaten,
          try takeOut(holder.row, table, refusal(of: holder.row, table, held: row.recordName))
        else { return try yield(row, table, to: holder, leaves: byAge) }
      }
      guard let present = try store.row(row.table, row.key), present.shelf != nil else {
        return false
      }
      let values = try rows(of: table).values(of: one.key)
      let refusal = try attempt(table, present, one.key, values, whole.columns)
      if let refusal, refusal.isUnique { continue }
      return try finish(one, present, values, whole, refusal)
    }
    return false
  }

  /// Whether a row takes a value from the one that holds it.
  private func beats(
    _ row: RowState,
    _ whole: RowVersion,
    _ rank: UniqueKeyRank,
    _ holder: KeyHolder,
    _ table: SyncTable
  ) throws(SQLiteError) -> Bool {
    // Where one hangs on the other, it would go with it.
    if try refers(whole, table, to: holder.row.recordName) { return false }
    if try refers(holder.version, table, to: row.recordName) { return true }
    return holder.rank < rank
  }

  /// Leaves a value to the row that holds it.
  private func yield(
    _ row: RowState,
    _ table: SyncTable,
    to holder: KeyHolder,
    leaves: Bool
  ) throws(SQLiteError) -> Bool {
    var row = row
    let why = refusal(of: row, table, held: holder.row.recordName, holder.search.columns)
    row.shelfCode = why.code
    row.shelfError = why.reason
    try store.save(row)
    // What it was before is no more, elsewhere too.
    if leaves { _ = try takeOut(row, table, why) }
    return false
  }

  private func refusal(
    of row: RowState,
    _ table: SyncTable,
    held holder: String,
    _ columns: [String]? = nil
  ) -> Refusal {
    let names = (columns ?? table.keyedColumns).map(\.quotedName).joined(separator: ", ")
    return Refusal(
      code: 2_067,
      reason: "\(described(row, table)) waits beside the table: record \(holder) has the same value"
        + " of the unique key \(names); change one of them"
    )
  }

  /// Whether a row refers to a record, itself or by rows that it refers to.
  private func refers(
    _ version: RowVersion,
    _ table: SyncTable,
    to name: String
  ) throws(SQLiteError) -> Bool {
    guard tables.enforcesForeignKeys else { return false }
    var seen: [String] = []
    var next = [(version: version, table: table)]
    while let (version, table) = next.popLast() {
      for reference in table.schema.foreignKeys {
        guard let parent = tables.table(named: reference.table),
          reference.referencedColumns == parent.schema.primaryKey,
          let values = version.values(reference.columns)
        else { continue }
        let parentName = parent.layout.recordName(key: values)
        if parentName == name { return true }
        if seen.contains(parentName) { continue }
        seen.append(parentName)
        guard let row = try self.row(named: parentName) else { continue }
        let present = try rows(of: parent).values(of: values)
        let server = row.server?.rowVersion
        next.append((self.version(of: row, parent, values: present, server: server), parent))
      }
    }
    return false
  }
}

extension UniqueKeyPolicy {
  var isNewest: Bool { if case .newest = kind { true } else { false } }
}

extension RowVersion {
  /// The values of some columns as they are stored; nil if one is NULL or unknown.
  func values(_ columns: [String]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for column in columns {
      guard let value = self[column]?.value, case .value(let stored)? = ValueCodec.decode(value),
        stored != .null
      else { return nil }
      values.append(stored)
    }
    return values
  }
}
