import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes a merge hold what the tables demand: checks, unique keys, foreign keys.
///
/// The tables have the state of the merge's first parent, and get that of the merge; whoever calls it undoes that.
/// Neither triggers nor actions of foreign keys run meanwhile. All that is decided is a function of both parents and
/// the rules, so every replica makes the same commit.
final class Settlement {
  let plan: MergePlan
  private let connection: HistoryConnection
  private let tracked: TrackedTables
  let tables: [String: SettlementTable]
  let links: [TableReference]
  /// The rows at the first parent that the merge has touched.
  private(set) var before: [RowID: SettledRow?] = [:]
  /// The rows that are to be in their tables and are not yet.
  var waiting: [RowID: SettledRow] = [:]
  /// The rows that were touched since foreign keys were looked at.
  var unchecked: Set<RowID> = []
  /// The rows that one side has made by itself and that the tables here do not take: they stay as that side has them.
  private(set) var parked: [RowID: SettledRow] = [:]
  /// The rows that are out of their tables for good, as they were.
  private(set) var setAside: [RowID: SettledRow] = [:]
  /// The rows that settling has deleted, as they were, with the time of that.
  var deleted: [RowID: (row: SettledRow, time: HybridTime)] = [:]
  /// The rows that a unique key has taken values from, as they were.
  var yielded: [RowID: SettledRow] = [:]
  /// The rows that are there for the sake of others.
  var needed: Set<RowID> = []
  /// The references that were settled once: the second time nothing is left but to let go.
  var followed: Set<String> = []
  private(set) var conflicts: [MergeConflict]
  private var parentSearches: [String: ReferencedRows] = [:]

  init(
    _ plan: MergePlan,
    connection: HistoryConnection,
    tables tracked: TrackedTables
  ) throws(ChangesetError) {
    self.plan = plan
    (self.connection, self.tracked) = (connection, tracked)
    let hasParkedRows = try ParkedRows(connection: connection).exist()
    var tables: [String: SettlementTable] = [:]
    for table in tracked.tables {
      tables[table.name] = try SettlementTable(
        connection: connection,
        tracked: table,
        hasParkedRows: hasParkedRows
      )
    }
    self.tables = tables
    links = tracked.schema.references.filter { link in
      [link.child, link.parent].allSatisfy { tracked.table($0.name) != nil }
    }
    conflicts = plan.conflicts
  }

  /// The merge as it can be: its changes and what was decided.
  func settled() throws(ChangesetError) -> MergePlan {
    try apply()
    try takeUpParked()
    try settleChecks()
    try place()
    try settleSharedKeys()
    try settleForeignKeys()
    try settleParked()
    var plan = plan
    plan.changes = try changes()
    plan.conflicts = conflicts.sorted()
    return plan
  }

  func table(_ name: String) throws(ChangesetError) -> SettlementTable {
    if let table = tables[name] { return table }
    throw ChangesetError(
      .needsUpgrade,
      "the history has a table \(name.quotedName), which this database lacks; update the app"
    )
  }

  // MARK: Rows

  /// Takes all rows that the merge changes out of their tables.
  private func apply() throws(ChangesetError) {
    for change in plan.changes.tables {
      for row in change.rows {
        let id = RowID(table: change.name, key: row.key)
        let present = try evict(id)
        guard row.kind != .delete else { continue }
        guard (present != nil) == (row.kind == .update) else {
          throw ChangesetError(
            .diverged,
            "table \(change.name.quotedName) is not what the history says; “verify” tells more"
          )
        }
        waiting[id] = (present ?? SettledRow()).changed(by: row)
      }
    }
  }

  /// Takes up the rows of the first parent that its own tables have taken and these do not, because of a unique key
  /// that has come since, and those that may lose their parents: what else they break is for no merge to mend.
  private func takeUpParked() throws(ChangesetError) {
    for parked in try ParkedRows(connection: connection).all() {
      let id = RowID(table: parked.table, key: parked.row.key)
      guard before[id] == nil, let table = tables[parked.table] else { continue }
      let isChild = links.contains { $0.child.name.isSameName(as: parked.table) }
      let holders = isChild ? [] : try table.holders(of: SettledRow(parked.row), id.key)
      guard isChild || holders.contains(where: { $0.search.columns != table.tracked.key }) else {
        continue
      }
      if let present = try evict(id) { waiting[id] = present }
    }
  }

  /// Takes a row out of its table; returns what it was.
  @discardableResult
  func evict(_ id: RowID) throws(ChangesetError) -> SettledRow? {
    let table = try table(id.table)
    let present = try table.row(id.key)
    if before[id] == nil { before[id] = .some(present) }
    unchecked.insert(id)
    if present != nil { try table.delete(id.key) }
    return present
  }

  func row(_ id: RowID) throws(ChangesetError) -> SettledRow? { try table(id.table).row(id.key) }

  /// When a cell was written, as far as the merge or its first parent have.
  func time(of id: RowID, _ column: String) -> HybridTime {
    waiting[id]?.times[column] ?? written[id]?[column]
      ?? plan.firstNet.table(id.table)?.row(id.key)?.cell(column)?.time ?? .zero
  }

  /// The times of what the merge has written into rows that are in their tables.
  private var written: [RowID: [String: HybridTime]] = [:]

  /// Notes that a row is in its table.
  func notePlaced(_ id: RowID, _ row: SettledRow) {
    waiting[id] = nil
    unchecked.insert(id)
    written[id, default: [:]].merge(row.times) { $1 }
  }

  /// Leaves a row as the side has it that has made it: only the tables here have a rule against it.
  func park(_ id: RowID, _ row: SettledRow) {
    notePlaced(id, row)
    parked[id] = row
  }

  /// Sets rows aside that could only be parked, and whose parents are gone: no action of a foreign key sees them.
  private func settleParked() throws(ChangesetError) {
    for id in parked.keys.sorted() {
      guard let row = parked[id], let table = tables[id.table]?.tracked else { continue }
      let cells = row.values.map { CellDelta($0.key, old: .null, new: $0.value, time: .zero) }
      let whole = RowDelta(.insert, id.key, cells: cells, time: .zero)
      for link in links where link.child.name.isSameName(as: table.name) {
        if try isHere(parentOf: whole, by: link) { continue }
        parked[id] = nil
        setAside(id, row, because: .foreignKey)
        break
      }
    }
  }

  private func isHere(
    parentOf row: RowDelta,
    by link: TableReference
  ) throws(ChangesetError) -> Bool {
    if try ParkedRows(connection: connection).hasParent(row, by: link, in: tracked) { return true }
    // One that is parked by this merge itself.
    return parked.contains { id, parent in
      id.table.isSameName(as: link.parent.name)
        && zip(link.key.columns, link.key.referencedColumns)
          .allSatisfy { column, name in
            let mine = tracked.value(of: column, in: link.child.name, key: row.key) {
              row.cell($0)?.new
            }
            return mine
              == tracked.value(of: name, in: link.parent.name, key: id.key) { parent.values[$0] }
          }
    }
  }

  /// Keeps a row out of its table for good.
  func setAside(_ id: RowID, _ row: SettledRow, because kind: MergeConflict.Kind) {
    let lost = row.cells { row.times[$0] ?? time(of: id, $0) }
    note(MergeConflict(kind, table: id.table, key: id.key, isSetAside: true, kept: [], lost: lost))
    waiting[id] = nil
    setAside[id] = row
    unchecked.insert(id)
  }

  func note(_ conflict: MergeConflict) { conflicts.append(conflict) }

  /// The rows of both sides that a foreign key may refer to.
  func referencedRows(of link: TableReference) throws(ChangesetError) -> ReferencedRows {
    let name = "\(link.parent.name) \(link.key.referencedColumns)"
    if let known = parentSearches[name] { return known }
    let rows = try ReferencedRows(
      link,
      table: try table(link.parent.name),
      nets: [plan.firstNet, plan.secondNet]
    )
    parentSearches[name] = rows
    return rows
  }

  // MARK: The end

  /// What leads from the first parent to the tables as they are now.
  private func changes() throws(ChangesetError) -> StateDelta {
    var result: [TableDelta] = []
    let names = Set(before.keys.map(\.table) + plan.changes.tables.map(\.name)).sortedByBytes()
    for name in names {
      let ids = before.keys.filter { $0.table == name }.sorted()
      var rows: [RowDelta] = []
      for id in ids {
        let present = if let row = parked[id] { row } else { try row(id) }
        if let change = change(of: id, from: before[id] ?? nil, to: present) {
          rows.append(change)
        }
      }
      let fills = plan.changes.table(name)?.fills ?? []
      if !rows.isEmpty || !fills.isEmpty {
        result.append(TableDelta(name, fills: fills, rows: rows))
      }
    }
    return StateDelta(tables: result)
  }

  private func change(of id: RowID, from old: SettledRow?, to new: SettledRow?) -> RowDelta? {
    var columns = Set((old?.values.keys).map(Array.init) ?? [])
      .union((new?.values.keys).map(Array.init) ?? [])
    // NULLs of a row that the merge inserts may have been written after it.
    if old == nil, new != nil { columns.formUnion(written[id, default: [:]].keys) }
    // Values that are newer than the first parent has them.
    let planned = plan.changes.table(id.table)?.row(id.key)
    let newer = planned?.cells.filter { planned?.kind == .update && !$0.isChange } ?? []
    columns.formUnion(newer.map(\.column))
    let cells = columns.sortedByBytes()
      .map { column in
        CellDelta(
          column,
          old: old?[column] ?? .null,
          new: new?[column] ?? .null,
          time: new == nil ? departure(of: id) : time(of: id, column)
        )
      }
    switch (old, new) {
    case (nil, nil): return nil
    case (nil, _?):
      // One that is restored holds what nobody has edited since.
      return RowDelta(inserting: id.key, cells: cells, time: planned?.time ?? .zero)
    case (_?, nil):
      let cells = cells.filter(\.isChange)
      return RowDelta(.delete, id.key, cells: cells, time: departure(of: id))
    case (_?, _?):
      let kept = cells.filter { cell in
        cell.isChange || newer.contains { $0.column == cell.column && $0.new == cell.new }
      }
      return RowDelta(updating: id.key, cells: kept)
    }
  }

  /// When a row that is gone went.
  private func departure(of id: RowID) -> HybridTime {
    if let time = deleted[id]?.time { return time }
    if let row = setAside[id] { return row.times.values.max() ?? latest(of: id) }
    return plan.changes.table(id.table)?.row(id.key)?.time ?? latest(of: id)
  }

  private func latest(of id: RowID) -> HybridTime {
    plan.firstNet.table(id.table)?.row(id.key)?.time ?? .zero
  }
}
