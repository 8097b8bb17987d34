import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What became of the row that another one refers to.
enum FormerParent {
  /// The row refers to nobody.
  case none
  /// It is there, or nobody knows of it yet.
  case present
  /// It goes on, and these values are to be referred to instead.
  case goesOn([SQLiteValue])
  /// It was deleted, and is in no table any more.
  case gone

  init(
    of row: LoadedRow,
    by link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) {
    guard let values = row.state.row?.storedValues(of: link.columns) else {
      self = .none
      return
    }
    self =
      link.refersToKey
      ? try Self.byKey(try transaction.row(spelled: values, in: link.parent), link, transaction)
      : try Self.byOtherKey(values, link, transaction)
  }

  private static func byKey(
    _ parent: LoadedRow,
    _ link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> FormerParent {
    guard parent.values == nil, parent.state.row != nil,
      parent.isDeleted(transaction.tables[link.parent].rules)
    else { return .present }
    return try transaction.successor(of: parent, by: link).map { .goesOn($0) } ?? .gone
  }

  private static func byOtherKey(
    _ values: [SQLiteValue],
    _ link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> FormerParent {
    let table = transaction.tables[link.parent]
    let rows = table.rows(transaction.connection)
    if try rows.hasRow(where: link.referencedColumns, values) { return .present }
    let former = FormerKeys(connection: transaction.connection)
    guard let key = try former.row(of: transaction.tables.name(of: values, link)),
      var parent = try transaction.row(key), parent.state.row != nil
    else { return .present }
    if parent.isDeleted(table.rules) {
      if parent.values != nil { return .present }
      guard let successor = try transaction.successor(of: parent) else { return .gone }
      parent = successor
    }
    let next = link.referencedColumns.map { column in
      parent.state.row?.storedValues(of: [column])?.first ?? .null
    }
    if transaction.tables.compared(next, link) == transaction.tables.compared(values, link) {
      return .present
    }
    if next.contains(.null), !link.reference.canBeNull { return .present }
    return .goesOn(try KeyChangePropagation.newValues(of: link, next, transaction))
  }
}

extension SyncTransaction {
  /// Notes that a row had a key that others refer to, and is about to have it no more.
  func noteFormer(
    _ values: [SQLiteValue],
    by link: TableLink,
    of row: RowKey
  ) throws(SQLiteError) {
    try FormerKeys(connection: connection).note(tables.name(of: values, link), of: row)
  }

  /// Notes the keys that a row had before it was edited.
  func noteFormerKeys(
    of key: RecordKey,
    in place: Int,
    before edits: [RowEdit]
  ) throws(SQLiteError) {
    let links = tables.links(to: place).filter { !$0.refersToKey }
    if links.isEmpty { return }
    let table = tables[place]
    var former: [String: SQLiteValue] = [:]
    for edit in edits {
      for (name, value) in edit.formerValues where former[name] == nil {
        former[name] = value
      }
    }
    if former.isEmpty { return }
    let present = try table.rows(connection).values(of: key.values)
    for link in links {
      let now = link.referencedColumns.map { name in
        present.flatMap { table.value(of: name, in: $0) }
      }
      let then = zip(link.referencedColumns, now).compactMap { former[$0] ?? $1 }
      if then.count < now.count || then.contains(.null) || then == now { continue }
      try noteFormer(then, by: link, of: RowKey(table: table.id, key: table.rowKey(key)))
    }
  }
}

extension RowEdit {
  /// What columns held before, as far as that was captured.
  fileprivate var formerValues: [(String, SQLiteValue)] {
    let fields: [(String, FieldValue)] =
      switch self {
      case .updated(let columns, _), .inserted(let columns, _):
        columns.compactMap { column in column.former.map { (column.name, $0) } }
      case .deleted(let columns, _): columns.map { ($0.name, $0.value) }
      case .found, .settled, .restored, .renamed: []
      }
    return fields.compactMap { name, field in
      if case .value(let value)? = ValueCodec.decode(field) { (name, value) } else { nil }
    }
  }
}
