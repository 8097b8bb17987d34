import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Why a row's parent is not there.
enum ParentLoss {
  /// It was deleted: the row as it was, and when that was.
  case deleted(RowID, SettledRow, HybridTime)
  /// It was set aside.
  case setAside(HybridTime)
  /// It goes on, and is referred to by these values.
  case moved([SQLiteValue])
  /// There was none: each side has set a part of the reference. These are the values of the one that has set the latest.
  case mixed([SQLiteValue])

  var time: HybridTime {
    switch self {
    case .deleted(_, _, let time), .setAside(let time): time
    case .moved, .mixed: .zero
    }
  }
}

/// What becomes of a row whose parent is not there.
enum OrphanAnswer {
  case delete
  case setAside
  /// It refers to these values instead.
  case set([SQLiteValue])
  /// Its parent comes back.
  case restore(RowID, SettledRow)
}

extension Settlement {
  /// Why a row's parent is not there; nil if the row had none on its own side.
  func loss(
    of row: SettledRow,
    _ id: RowID,
    _ link: TableReference
  ) throws(ChangesetError) -> ParentLoss? {
    let tracked = try table(id.table).tracked
    let values = link.key.columns.map { name in
      if let place = tracked.key.firstIndex(where: { $0.isSameName(as: name) }) {
        return id.key.values[place]
      }
      return tracked.columns.first { $0.isSameName(as: name) }.map { row[$0] } ?? .null
    }
    let referenced = try referencedRows(of: link)
    let sides = OrphanedSides(link: link, referenced: referenced, settlement: self)
    let name = try table(link.parent.name).tracked.name
    for parent in (Array(setAside.keys) + Array(deleted.keys)).sorted() where parent.table == name {
      let known = [setAside[parent] ?? deleted[parent]?.row, before[parent] ?? nil]
      let isMeant = known.contains { row in
        row.map { referenced.isSame(referenced.values(of: parent.key, $0), values) } == true
      }
      if isMeant, let fate = fate(of: parent) { return fate }
    }
    if let key = referenced.move(values) {
      let parent = RowID(table: name, key: key)
      if try sides.hadLost(parent: parent, of: id, referringTo: values) { return nil }
      if let now = try self.row(parent) { return .moved(referenced.values(of: key, now)) }
      return fate(of: parent) ?? deletion(of: parent)
    }
    guard let deletion = referenced.deletion(values) else {
      return mixed(values, of: id, link).map { .mixed($0) }
    }
    let parent = RowID(table: name, key: deletion.key)
    if try sides.hadLost(parent: parent, of: id, referringTo: values) { return nil }
    var row = SettledRow()
    for cell in deletion.cells { row.set(cell.column, cell.old, at: .zero) }
    return .deleted(parent, row, deletion.time)
  }

  /// What the side has a row refer to that has set a part of the reference the latest; nil if one side has all of it as the
  /// merge has.
  private func mixed(
    _ values: [SQLiteValue],
    of id: RowID,
    _ link: TableReference
  ) -> [SQLiteValue]? {
    guard let first = plan.firstNet.table(id.table)?.row(id.key), first.kind == .update,
      let second = plan.secondNet.table(id.table)?.row(id.key), second.kind == .update
    else { return nil }
    var (mine, theirs) = (values, values)
    var (mineAt, theirsAt) = (HybridTime.zero, HybridTime.zero)
    for (place, name) in link.key.columns.enumerated() {
      let own = first.cells.first { $0.column.isSameName(as: name) }
      let other = second.cells.first { $0.column.isSameName(as: name) }
      // A side that has not set a column has it as both had it before.
      if let value = own?.new ?? other?.old { mine[place] = value }
      if let value = other?.new ?? own?.old { theirs[place] = value }
      if let own { mineAt = max(mineAt, own.time) }
      if let other { theirsAt = max(theirsAt, other.time) }
    }
    if mine == values || theirs == values { return nil }
    return theirsAt > mineAt ? theirs : mine
  }

  /// A row that one side has deleted, and the other has edited: as it would be with these edits.
  private func deletion(of id: RowID) -> ParentLoss? {
    let changes = [plan.firstNet, plan.secondNet].compactMap { $0.table(id.table)?.row(id.key) }
    guard let deletion = changes.first(where: { $0.kind == .delete }) else { return nil }
    var row = SettledRow()
    for cell in deletion.cells { row.set(cell.column, cell.old, at: .zero) }
    for change in changes where change.kind == .update { row = row.changed(by: change) }
    return .deleted(id, row, deletion.time)
  }

  /// What settling has done with a row that is gone.
  private func fate(of id: RowID) -> ParentLoss? {
    if let row = setAside[id] { return .setAside(row.times.values.max() ?? .zero) }
    return deleted[id].map { .deleted(id, $0.row, $0.time) }
  }

  /// What the foreign key and the policies have become of a row.
  func answer(
    of id: RowID,
    link number: Int,
    to cause: ParentLoss
  ) throws(ChangesetError) -> OrphanAnswer {
    let link = links[number]
    let isSecond = !followed.insert("\(number) \(id.table) \(id.key.bytes)").inserted
    let nobody = link.key.columns.map { _ in SQLiteValue.null }
    let last: OrphanAnswer = link.canBeNull ? .set(nobody) : .setAside
    switch cause {
    case .setAside: return last
    case .mixed(let values): return isSecond ? last : .set(values)
    case .moved(let values):
      if isSecond || link.isInKeyOfChild || values.contains(.null) { return last }
      switch link.key.onUpdate {
      case .setNull: return link.canBeNull ? .set(nobody) : .set(values)
      case .setDefault: return try defaults(of: link).map { .set($0) } ?? .set(values)
      case .cascade, .noAction, .restrict: return .set(values)
      }
    case .deleted(let parent, let row, _):
      // A row comes back once; what is missing then cannot be there.
      let restore: OrphanAnswer =
        isSecond && needed.contains(parent) || setAside[parent] != nil
        ? last : .restore(parent, row)
      // For the sake of whom it is there its own parents must be, too.
      if needed.contains(id) { return restore }
      switch link.key.onDelete {
      case .cascade: return .delete
      case .setNull: return link.canBeNull ? .set(nobody) : restore
      case .setDefault:
        return isSecond ? restore : try defaults(of: link).map { .set($0) } ?? restore
      case .noAction, .restrict:
        switch plan.rules.table(id.table).orphans {
        case .restoreParent: return restore
        case .deleteChildren: return .delete
        case .detachChildren: return link.canBeNull ? .set(nobody) : restore
        }
      }
    }
  }

  /// What SET DEFAULT sets; nil if that refers to nobody.
  private func defaults(of link: TableReference) throws(ChangesetError) -> [SQLiteValue]? {
    if link.isInKeyOfChild { return nil }
    let parent = try table(link.parent.name)
    return try parent.connection.failing { () throws(SQLiteError) in
      let list = link.defaults.joined(separator: ", ")
      let query = try parent.connection.sqlite.prepare("SELECT \(list)")
      guard try query.step() else { return nil }
      let values = (0..<query.columnCount).map { query.value($0) }
      query.reset()
      if values.contains(.null) { return link.canBeNull ? values : nil }
      let match = link.key.referencedColumns.enumerated()
        .map { "\($1.quotedName) = ?\($0 + 1)" }
      let search = try parent.connection.bound(
        sql:
          "SELECT 1 FROM main.\(link.parent.name.quotedName) WHERE \(match.joined(separator: " AND "))",
        values
      )
      defer { search.reset() }
      return try search.step() ? values : nil
    }
  }
}

extension TableReference {
  /// Whether the child's own key holds what it refers to.
  var isInKeyOfChild: Bool {
    key.columns.contains { name in child.primaryKey.contains { $0.isSameName(as: name) } }
  }
}
