import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that refer to others which the merge does not have.
extension Settlement {
  /// A row, and the foreign keys of its own that refer to nobody, by their numbers.
  private typealias Dangling = [RowID: [Int]]

  /// Settles foreign keys until all hold that held on both sides.
  ///
  /// It ends: a row is restored once, deleted or set aside, and each reference is followed once.
  func settleForeignKeys() throws(ChangesetError) {
    while !unchecked.isEmpty {
      try settleYielded()
      let rows = unchecked.sorted()
      unchecked = []
      var dangling: Dangling = [:]
      for id in rows {
        for (number, link) in links.enumerated() {
          if link.child.name.isSameName(as: id.table) {
            try findParent(of: id, number, &dangling)
          }
          if link.parent.name.isSameName(as: id.table) {
            try findChildren(of: id, number, &dangling)
          }
        }
      }
      for id in dangling.keys.sorted() { try settle(id: id, dangling[id] ?? []) }
    }
  }

  // MARK: Finding

  private func findParent(
    of id: RowID,
    _ number: Int,
    _ dangling: inout Dangling
  ) throws(ChangesetError) {
    guard try isDangling(id: id, links[number]) else { return }
    note(id: id, number, &dangling)
  }

  private func note(id: RowID, _ number: Int, _ dangling: inout Dangling) {
    if dangling[id]?.contains(number) != true { dangling[id, default: []].append(number) }
    dangling[id]?.sort()
  }

  /// The rows that referred to a row which is gone, or is referred to by something else.
  private func findChildren(
    of id: RowID,
    _ number: Int,
    _ dangling: inout Dangling
  ) throws(ChangesetError) {
    // As it was at the first parent, and as the merge had it before it went.
    let known = [before[id] ?? nil, setAside[id], deleted[id]?.row].compactMap { $0 }
    if known.isEmpty { return }
    let referenced = try referencedRows(of: links[number])
    let now = try row(id).map { referenced.values(of: id.key, $0) }
    let child = try table(links[number].child.name)
    for former in known {
      let old = referenced.values(of: id.key, former)
      if old.contains(.null) || now.map({ referenced.isSame($0, old) }) == true { continue }
      for key in try referenced.children(of: old, by: links[number], in: child) {
        let id = RowID(table: child.tracked.name, key: key)
        if try isDangling(id: id, links[number]) { note(id: id, number, &dangling) }
      }
    }
  }

  private func isDangling(id: RowID, _ link: TableReference) throws(ChangesetError) -> Bool {
    let child = try table(link.child.name)
    let match = child.tracked.key.enumerated().map { "c.\($1.quotedName) = ?\($0 + 1)" }
    let isSet = link.key.columns.map { "c.\($0.quotedName) IS NOT NULL" }
    let sql = """
      SELECT 1 FROM main.\(link.child.name.quotedName) c
      WHERE \((match + isSet).joined(separator: " AND ")) AND NOT EXISTS(
        SELECT 1 FROM main.\(link.parent.name.quotedName) p
        WHERE \(link.match(parent: "p", child: "c")))
      """
    return try child.connection.failing { () throws(SQLiteError) in
      let query = try child.connection.bound(sql: sql, id.key.values)
      defer { query.reset() }
      return try query.step()
    }
  }

  // MARK: Settling

  private func settle(id: RowID, _ numbers: [Int]) throws(ChangesetError) {
    var open: [(number: Int, cause: ParentLoss, answer: OrphanAnswer)] = []
    for number in numbers {
      // What was done for another row may have settled it.
      guard try isDangling(id: id, links[number]), let row = try row(id) else { continue }
      guard let cause = try loss(of: row, id, links[number]) else { continue }
      open.append((number, cause, try answer(of: id, link: number, to: cause)))
    }
    if let first = open.first(where: { if case .delete = $0.answer { true } else { false } }) {
      return try delete(id: id, because: first.cause)
    }
    if open.contains(where: { if case .setAside = $0.answer { true } else { false } }) {
      return try setAside(id)
    }
    for one in open where try isDangling(id: id, links[one.number]) {
      try carryOut(answer: one.answer, on: id, links[one.number])
    }
  }

  private func carryOut(
    answer: OrphanAnswer,
    on id: RowID,
    _ link: TableReference
  ) throws(ChangesetError) {
    switch answer {
    case .delete, .setAside: return
    case .set(let values): try set(link, to: values, of: id)
    case .restore(let parent, let row):
      guard try self.row(parent) == nil, setAside[parent] == nil else {
        unchecked.insert(id)
        return
      }
      try evict(parent)
      deleted[parent] = nil
      waiting[parent] = row
      needed.insert(parent)
      try place()
      if try self.row(parent) != nil {
        let cells = row.cells { row.times[$0] ?? .zero }
        note(
          MergeConflict(.foreignKey, table: parent.table, key: parent.key, kept: cells, lost: [])
        )
      }
      // Where it could not come back its children have to let go.
      unchecked.insert(id)
    }
  }

  private func delete(id: RowID, because cause: ParentLoss) throws(ChangesetError) {
    guard let row = try evict(id) else { return }
    let lost = row.cells { time(of: id, $0) }
    deleted[id] = (row, cause.time)
    note(MergeConflict(.foreignKey, table: id.table, key: id.key, kept: [], lost: lost))
  }

  func setAside(_ id: RowID) throws(ChangesetError) {
    if let row = try evict(id) { setAside(id, row, because: .foreignKey) }
  }

  func set(
    _ link: TableReference,
    to values: [SQLiteValue],
    of id: RowID
  ) throws(ChangesetError) {
    guard var row = try evict(id) else { return }
    var kept: [MergeConflict.Cell] = []
    var lost: [MergeConflict.Cell] = []
    let tracked = try table(id.table).tracked
    for (column, value) in zip(link.key.columns, values) {
      // The row's own key stays, whatever it refers to by it.
      if tracked.key.contains(where: { $0.isSameName(as: column) }) { continue }
      let name = tracked.columns.first { $0.isSameName(as: column) } ?? column
      let time = time(of: id, name)
      lost.append(.init(name, row[name], time: time))
      kept.append(.init(name, value, time: time))
      row.set(name, value, at: time)
    }
    let order: (MergeConflict.Cell, MergeConflict.Cell) -> Bool = {
      $0.column.precedesByBytes($1.column)
    }
    waiting[id] = row
    try place()
    guard try self.row(id) != nil else { return }
    note(
      MergeConflict(
        .foreignKey,
        table: id.table,
        key: id.key,
        kept: kept.sorted(by: order),
        lost: lost.sorted(by: order)
      )
    )
  }
}
