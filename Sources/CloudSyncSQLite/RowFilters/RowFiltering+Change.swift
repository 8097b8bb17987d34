import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension RowFiltering {
  /// Decides anew which rows stay here, if the engine of this database that has decided last had other conditions, or
  /// other tables to which rows refer.
  ///
  /// Several may be open at once, in different processes: each decides anew when it comes after another one.
  ///
  /// - Parameter isOutdated: Whether what was decided counts no more in any case.
  /// - Throws: SQLite's reason.
  func takeOver(isOutdated: Bool = false) throws(SQLiteError) {
    let places = try tablesDecidedOtherwise()
    if isOutdated || places != nil { try askAgain(in: places ?? []) }
    if places != nil { try facts.set(.rowFilters, toNames: conditions) }
  }

  /// The tables whose condition is another one than that by which an engine has decided last which rows stay here; nil if
  /// it has decided as this one does.
  func tablesDecidedOtherwise() throws(SQLiteError) -> [Int]? {
    let (former, present) = (try facts.names(.rowFilters), conditions)
    if former == present { return nil }
    return tables.inOrder.indices.filter { place in
      let id = "\(tables[place].id)"
      return former[id] ?? [:] != present[id] ?? [:]
    }
  }

  /// The conditions of the tables by their numbers, as they are kept; empty if no row stays here.
  private var conditions: [String: [String: String]] {
    if !tables.hasFilters { return [:] }
    let conditions = tables.inOrder.map { table in
      ("\(table.id)", table.captured.filter.map { ["sql": $0] } ?? [:])
    }
    return Dictionary(conditions, uniquingKeysWith: { first, _ in first })
  }

  /// Looks again which rows stay here, because the conditions are other ones or the tables are.
  ///
  /// Where there is no condition all rows are sent, and those that have waited for others. What was deleted while it
  /// did not match, and what has gone with that, was only meant for this device: it is fetched again.
  ///
  /// - Parameter places: The tables whose condition is another one. Of all others only rows that have stayed here are
  ///   looked at.
  /// - Throws: SQLite's reason.
  func askAgain(in places: [Int]) throws(SQLiteError) {
    let opened = opened(by: places)
    var keys = try stored.pending.filtered()
    for id in places.map({ tables[$0].id }) {
      keys += try stored.pending.keys(in: id).map { RowKey(table: id, key: $0) }
    }
    for key in keys {
      guard let place = tables.place(ofID: key.table), var row = try row(key) else { continue }
      let mayStay = tables.mayFilterRows(of: place)
      if !mayStay || opened.contains(place), try wasDeletedHereAlone(row) {
        row.state = RecordState()
        try facts.set(.fetchAll, to: .integer(FullFetch.sweeps.rawValue))
      } else if !mayStay {
        row.state.filtering = nil
      }
      keep(row)
    }
  }

  /// The tables that have lost their condition, and those that refer to one of them by whatever way.
  private func opened(by places: [Int]) -> Set<Int> {
    var found = Set(places.filter { tables[$0].filter == nil })
    var open = Array(found)
    while let place = open.popLast() {
      for child in tables.links(to: place).compactMap(\.child) where found.insert(child).inserted {
        open.append(child)
      }
    }
    return found
  }

  /// Whether a row was deleted while it did not match, and its table has no condition any more.
  private func wasDeletedHereAlone(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    let table = tables[row.place]
    guard table.filter == nil, row.values == nil, row.state.placement == .inTable,
      let filtering = row.state.filtering, row.isDeleted
    else { return false }
    if filtering.parent == nil { return true }
    // One that went on under another key has gone under that one.
    guard row.state.row?.successor != nil else { return false }
    return try transaction.renamed.successor(of: row) == nil
  }
}
