import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The captured changes of references that nobody has made: SQLite has, by `ON UPDATE CASCADE`, because the key that they
/// refer to was changed.
///
/// SQLite writes them before it calls the triggers of the row whose key changes, so they are captured before that change.
/// Who edits a reference himself refers to a key that is there already.
struct CapturedCascades {
  /// An edit of a reference, with what it refers to from then on, if that was captured.
  private struct Change {
    let id: Int64
    let values: [SQLiteValue]?
  }

  /// A row's reference, by the number of its foreign key.
  private struct Reference: Hashable {
    let link: Int
    let row: RowIdentity
  }

  /// A change of a key that is referred to, with its values as they are compared.
  private struct KeyChange {
    let id: Int64
    let former: [SQLiteValue]
    let next: [SQLiteValue]
  }

  /// By the numbers of the edits, the columns that SQLite has set.
  private(set) var columns: [Int64: Set<String>] = [:]
  private var changes: [Reference: [Change]] = [:]
  /// References of rows that were deleted since.
  private var ended: [(link: Int, changes: [Change])] = []
  /// By the numbers of the foreign keys, in the order of the edits.
  private var keyChanges: [Int: [KeyChange]] = [:]
  private var last: CapturedEdit?

  /// Finds none.
  init() {}

  /// Finds them in the outbox.
  init(_ outbox: CapturedEditReader, in transaction: SyncTransaction) throws(SQLiteError) {
    let tables = transaction.tables
    let links = tables.links.filter(\.followsKeys)
    if links.isEmpty { return }
    #if DEBUG
    if RecordMutation.takesCascadesAsEdits { return }
    #endif
    let keyed = Set(links.filter(\.refersToKey).map { tables[$0.parent].id })
    let others = Set(links.filter { !$0.refersToKey }.map { tables[$0.parent].id })
    guard try outbox.hasKeyChange(of: keyed, orUpdateOf: others) else { return }
    var found = CapturedCascades()
    try outbox.walk { (edit) throws(SQLiteError) in found.take(edit, in: tables) }
    try found.resolve(in: transaction)
    columns = found.columns
  }

  // MARK: Edits

  private mutating func take(_ edit: CapturedEdit, in tables: SyncTables) {
    let former = last
    last = edit
    guard let place = tables.place(ofID: edit.table) else { return }
    switch edit.change {
    case .replaced, .mismatched: break
    case .updated(let bits):
      noteReferences(of: edit, bits, in: tables, at: place)
      noteKeys(from: edit, to: edit, in: tables, at: place)
    case .deleted where edit.isRenaming: break
    case .deleted: end(edit, in: tables, at: place)
    case .inserted:
      if let former, former.isRenaming, former.id + 1 == edit.id, former.table == edit.table {
        return move(former, to: edit, in: tables, at: place)
      }
      end(edit, in: tables, at: place)
    }
  }

  private mutating func noteReferences(
    of edit: CapturedEdit,
    _ bits: ColumnBits,
    in tables: SyncTables,
    at place: Int
  ) {
    let table = tables[place].captured
    for link in tables.links(from: place) where link.followsKeys {
      let isChanged = table.watched.contains { number, column in
        bits.contains(number) && link.columns.contains(column.name)
      }
      guard isChanged else { continue }
      let values = table.values(of: link.columns, in: edit.values)
      changes[reference(of: edit, by: link, in: table), default: []]
        .append(Change(id: edit.id, values: values))
    }
  }

  /// Notes keys beside the primary one that change from one edit to another.
  private mutating func noteKeys(
    from former: CapturedEdit,
    to edit: CapturedEdit,
    in tables: SyncTables,
    at place: Int
  ) {
    let table = tables[place].captured
    for link in tables.links(to: place) where link.followsKeys && !link.refersToKey {
      guard let old = table.values(of: link.referencedColumns, in: former.former),
        let new = table.values(of: link.referencedColumns, in: edit.values)
      else { continue }
      note(old, to: new, by: link, at: edit.id, in: tables)
    }
  }

  private mutating func note(
    _ former: [SQLiteValue],
    to next: [SQLiteValue],
    by link: TableLink,
    at id: Int64,
    in tables: SyncTables
  ) {
    let change = KeyChange(
      id: id,
      former: tables.compared(former, by: link),
      next: tables.compared(next, by: link)
    )
    if change.former == change.next || change.next.contains(.null) { return }
    keyChanges[link.number, default: []].append(change)
  }

  /// Has a row go on under another key.
  private mutating func move(
    _ former: CapturedEdit,
    to edit: CapturedEdit,
    in tables: SyncTables,
    at place: Int
  ) {
    let table = tables[place].captured
    for link in tables.links(to: place) where link.followsKeys && link.refersToKey {
      note(former.key, to: edit.key, by: link, at: edit.id, in: tables)
    }
    noteKeys(from: former, to: edit, in: tables, at: place)
    for link in tables.links(from: place) where link.followsKeys {
      let own = changes.removeValue(forKey: reference(of: former, by: link, in: table))
      // A row that refers to itself has followed under its new key already.
      if let own { changes[reference(of: edit, by: link, in: table), default: []] += own }
    }
  }

  /// Ends what was known of the row of a key.
  private mutating func end(_ edit: CapturedEdit, in tables: SyncTables, at place: Int) {
    for link in tables.links(from: place) where link.followsKeys {
      let reference = reference(of: edit, by: link, in: tables[place].captured)
      if let former = changes.removeValue(forKey: reference) { ended.append((link.number, former)) }
    }
  }

  private func reference(
    of edit: CapturedEdit,
    by link: TableLink,
    in table: CapturedTable
  ) -> Reference {
    let row = RowIdentity(table: table.id, key: table.identity(of: edit.key))
    return Reference(link: link.number, row: row)
  }

  // MARK: What they come to

  private mutating func resolve(in transaction: SyncTransaction) throws(SQLiteError) {
    let tables = transaction.tables
    if keyChanges.isEmpty { return }
    for (link, changes) in ended {
      resolve(changes, by: tables.links[link], to: nil, in: tables)
    }
    for (reference, changes) in changes where keyChanges[reference.link] != nil {
      let link = tables.links[reference.link]
      guard let place = tables.place(ofID: reference.row.table) else { continue }
      let table = tables[place]
      let present = try table.rows(on: transaction.connection).values(of: reference.row.key)
      let values = present.flatMap { table.values(of: link.columns, in: $0) }
      resolve(changes, by: link, to: values, in: tables)
    }
  }

  /// Finds out which changes of a reference followed a key, from the last one on: what it refers to after that is known.
  private mutating func resolve(
    _ changes: [Change],
    by link: TableLink,
    to present: [SQLiteValue]?,
    in tables: SyncTables
  ) {
    var values = present.map { tables.compared($0, by: link) }
    var end = Int64.max
    for change in changes.sorted(by: { $0.id > $1.id }) {
      if let captured = change.values { values = tables.compared(captured, by: link) }
      let cause = keyChanges[link.number]?
        .first { $0.id > change.id && $0.id < end && $0.next == values }
      if cause != nil { columns[change.id, default: []].formUnion(link.columns) }
      values = cause?.former
      end = change.id
    }
  }
}

extension TableLink {
  /// Whether its rows follow the key that they refer to, and stay the rows that they are.
  fileprivate var followsKeys: Bool {
    child != nil && reference.key.onUpdate == .cascade && !isInKeyOfChild
  }
}

extension CapturedTable {
  /// Columns among the kept values of an edit; nil if one of them was not kept.
  fileprivate func values(of names: [String], in kept: [SQLiteValue]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for name in names {
      guard let place = self.kept.firstIndex(of: name), place < kept.count else { return nil }
      values.append(kept[place])
    }
    return values
  }
}
