import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension RowFiltering {
  /// By what it was decided which rows of tables stay here, by the tables' numbers: the conditions of the table and of all
  /// tables that its rows need, by whatever way, by their numbers.
  private typealias Conditions = [String: [String: String]]

  /// Decides anew which rows stay here, of the tables of which the engine of this database that has decided last had other
  /// conditions, or other tables that their rows need.
  ///
  /// Several may be open at once, in different processes: each decides anew when it comes after another one. What another
  /// one has decided of tables that this one does not synchronize stays.
  ///
  /// - Parameter isOutdated: Whether what was decided counts no more in any case.
  /// - Throws: SQLite's reason.
  func takeOver(isOutdated: Bool = false) throws(SQLiteError) {
    var conditions = try facts.names(.rowFilters)
    let places = placesDecidedOtherwise(than: conditions)
    if places.isEmpty, !isOutdated { return }
    try askAgain(in: places, since: conditions, isOutdated: isOutdated)
    if places.isEmpty { return }
    for place in places {
      let present = self.conditions(of: place)
      conditions["\(tables[place].id)"] = present.isEmpty ? nil : present
    }
    try facts.set(.rowFilters, toNames: conditions)
  }

  /// Whether an engine has decided last by other conditions which rows stay here.
  func isDecidedOtherwise() throws(SQLiteError) -> Bool {
    try placesDecidedOtherwise(than: facts.names(.rowFilters)).isEmpty == false
  }

  private func placesDecidedOtherwise(than former: Conditions) -> [Int] {
    if former.isEmpty, !tables.hasFilters { return [] }
    return tables.inOrder.indices
      .filter { former["\(tables[$0].id)"] ?? [:] != conditions(of: $0) }
  }

  /// The conditions that decide of a table's rows; empty if none of them stays here.
  private func conditions(of place: Int) -> [String: String] {
    var conditions: [String: String] = [:]
    var open = tables.mayFilterRows(of: place) ? [place] : []
    while let place = open.popLast() {
      let id = "\(tables[place].id)"
      if conditions[id] != nil { continue }
      conditions[id] = tables[place].captured.filter ?? ""
      open += tables.links(from: place).map(\.parent).filter { tables.mayFilterRows(of: $0) }
    }
    return conditions
  }

  /// Looks again which rows stay here, because the conditions are other ones or the tables are.
  ///
  /// Where there is no condition all rows are sent, and those that have waited for others. What was deleted while it
  /// did not match, and what has gone with that, was only meant for this device: it is fetched again.
  ///
  /// - Parameters:
  ///   - places: The tables of which was decided otherwise. Where the tables' own condition is the same only rows that have
  ///     stayed here are looked at.
  ///   - former: By what was decided.
  ///   - isOutdated: Whether all rows that have stayed here are looked at.
  /// - Throws: SQLite's reason.
  private func askAgain(
    in places: [Int],
    since former: Conditions,
    isOutdated: Bool
  ) throws(SQLiteError) {
    let changed = places.filter { place in
      let id = "\(tables[place].id)"
      return former[id]?[id] ?? "" != tables[place].captured.filter ?? ""
    }
    let opened = opened(by: changed)
    let ids = Set(places.map { tables[$0].id })
    var keys = try stored.pending.filtered().filter { isOutdated || ids.contains($0.table) }
    for id in changed.map({ tables[$0].id }) {
      keys += try stored.pending.keys(in: id).map { RowKey(table: id, key: $0) }
    }
    // What was deleted since the last engine is read, and stored nowhere yet.
    keys += transaction.rows.values
      .filter { ids.contains($0.rowKey.table) && $0.endsMismatched != nil }
      .map(\.order).sorted { $0.precedes($1) }.map(\.rowKey)
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
    guard table.filter == nil, row.values == nil, row.state.placement == .inTable, row.isDeleted
    else { return false }
    if let endsMismatched = row.endsMismatched { return endsMismatched }
    guard let filtering = row.state.filtering else { return false }
    if filtering.parent == nil { return true }
    // One that went on under another key has gone under that one.
    guard row.state.row?.successor != nil else { return false }
    return try transaction.renamed.successor(of: row) == nil
  }
}
