import CloudSyncCore
import CloudSyncSQLiteSupport

/// Of which rows the references are that were captured: a row that has a key now may give it to another one, and who does
/// that need not know of the reference.
///
/// The outbox is read to its end, so every reference is of the row that has its key in the database as it is now.
struct ReferenceLives: TransactionPart {
  let transaction: SyncTransaction

  /// The rows that were edited, with their clocks from before.
  private var edited: [(row: RowKey, before: RecordClock?)] = []
  /// What was found out so far, by the rows that are referred to.
  private var lives: [RowKey: RowLife?] = [:]

  init(transaction: SyncTransaction) { self.transaction = transaction }

  /// Takes a row that is about to be edited.
  mutating func begin(_ row: LoadedRow) {
    if transaction.tables.links(from: row.place).contains(where: { !$0.own.isEmpty }) {
      edited.append((row.rowKey, row.state.row?.clock))
    }
  }

  /// Notes of which rows the references are that were edited.
  mutating func noteReferences() throws(SQLiteError) {
    for (key, before) in edited {
      guard let row = try transaction.row(key), let version = row.state.row,
        !row.isDeleted
      else { continue }
      var references: [ReferenceLife] = []
      for link in tables.links(from: row.place) where !link.own.isEmpty {
        let changed = link.own.filter { column in
          before?.created != version.created
            || before?.time(of: column) != version.clock.time(of: column)
        }
        if changed.isEmpty { continue }
        var life: RowLife?
        if let values = version.storedValues(of: link.columns) {
          life = try self.life(of: values, in: link.parent)
        }
        references += changed.map { ReferenceLife(column: $0, life: life) }
      }
      if references.isEmpty { continue }
      try transaction.reduce(.edited(.referred(references)), of: row.key, in: row.place)
    }
  }

  /// Which row has a key; nil if there is none.
  private mutating func life(
    of key: [SQLiteValue],
    in place: Int
  ) throws(SQLiteError) -> RowLife? {
    let table = tables[place]
    let rowKey = table.rowKey(of: table.format.key(spelled: key))
    if let known = lives[rowKey] { return known }
    let life = try life(of: transaction.row(spelled: key, in: place))
    lives[rowKey] = .some(life)
    return life
  }

  /// Which row it is, if it is there.
  private func life(of row: LoadedRow) -> RowLife? {
    guard let version = row.state.row else {
      return row.values == nil ? nil : RowLife(created: RecordClock.foundCreation)
    }
    if row.isDeleted { return nil }
    return RowLife(created: version.created, row: version.clock.row)
  }
}

/// What a transaction has to know of references to rows that give their keys to others.
///
/// It is a class because it belongs to the transaction, and what is found out is remembered.
final class ReferenceTraces {
  /// Rows of which the cloud has told something, or that the engine itself has moved, where references may follow from it.
  var arrived: Set<RowKey> = []
  private var found: [RowKey: Bool] = [:]

  /// Notes what has happened to a row.
  func note(_ event: RecordEvent, of row: LoadedRow, in tables: SyncTables) {
    switch event {
    case .has, .conflict, .edited(.handed): break
    default: return
    }
    noteMove(of: row, in: tables)
  }

  /// Notes that it was heard where a row goes on, or that the engine has it go on as another one.
  func noteMove(of row: LoadedRow, in tables: SyncTables) {
    let links = [tables.links(from: row.place), tables.links(to: row.place)]
    if links.contains(where: { $0.contains { !$0.own.isEmpty } }) { arrived.insert(row.rowKey) }
  }

  /// Whether rows that had a key before go on under other ones.
  func hasFormerLives(
    _ key: RecordKey,
    in place: Int,
    of transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    let rowKey = transaction.tables[place].rowKey(of: key)
    if let row = transaction.rows[rowKey] { return row.state.row?.clock.moves.isEmpty == false }
    if let known = found[rowKey] { return known }
    let hasAny = try transaction.row(key, in: place).state.row?.clock.moves.isEmpty == false
    found[rowKey] = hasAny
    return hasAny
  }
}
