import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What rows are to have that are not in their tables so: whom they refer to, and by what others refer to them.
///
/// No index of SQLite's finds that.
///
/// It is made when somebody asks first, of the rows that the transaction deals with, and grows from then on. What a row
/// was to have once it may be to have no more: whoever asks has to look.
final class LooseReferences {
  private struct Values: Hashable {
    /// The number of the foreign key among all.
    let link: Int
    let values: [SQLiteValue]
  }

  private var parents: [Values: Set<RowKey>] = [:]
  private var children: [Values: Set<RowKey>] = [:]
  /// The keys that rows have lost to others which are kept beside these.
  private var displacing: Set<RowKey> = []
  private var hasStoredDisplacing = false
  private var isMade = false
  private var hasStored = false

  /// Notes what a row is to have, if anybody has asked yet.
  func note(_ row: LoadedRow, in tables: SyncTables) {
    if !row.state.endedLives.isEmpty { displacing.insert(row.rowKey) }
    if isMade { add(row, in: tables) }
  }

  /// The keys that other rows have, or had, lost to these.
  func displacing(in transaction: SyncTransaction) throws(SQLiteError) -> Set<RowKey> {
    if !hasStoredDisplacing {
      hasStoredDisplacing = true
      displacing.formUnion(try transaction.stored.pending.displacing())
    }
    return displacing
  }

  /// The rows of the transaction that are, or were, to have the values that a foreign key refers to, of another key than
  /// the primary one.
  func parents(
    having values: [SQLiteValue],
    by link: TableLink,
    in transaction: SyncTransaction
  ) -> Set<RowKey> {
    make(from: transaction)
    let compared = transaction.tables.compared(values, by: link)
    return parents[Values(link: link.number, values: compared)] ?? []
  }

  /// All rows that are, or were, to refer to values by a foreign key, whether or not the transaction deals with them.
  func children(
    referringTo values: [SQLiteValue],
    by link: TableLink,
    in transaction: SyncTransaction
  ) throws(SQLiteError) -> Set<RowKey> {
    make(from: transaction)
    try readStored(of: transaction)
    let compared = transaction.tables.compared(values, by: link)
    return children[Values(link: link.number, values: compared)] ?? []
  }

  private func make(from transaction: SyncTransaction) {
    if isMade { return }
    isMade = true
    for row in transaction.rows.values { add(row, in: transaction.tables) }
  }

  private func readStored(of transaction: SyncTransaction) throws(SQLiteError) {
    if hasStored { return }
    hasStored = true
    let pending = transaction.stored.pending
    for key in try pending.besideTables() where transaction.rows[key] == nil {
      if let row = try transaction.row(key) { add(row, in: transaction.tables) }
    }
  }

  private func add(_ row: LoadedRow, in tables: SyncTables) {
    guard row.values == nil || row.needsWrite || row.state.placement != .inTable,
      let version = row.state.row
    else { return }
    for link in tables.links(to: row.place) where !link.refersToKey {
      guard let values = version.storedValues(of: link.referencedColumns) else { continue }
      let place = Values(link: link.number, values: tables.compared(values, by: link))
      parents[place, default: []].insert(row.rowKey)
    }
    for link in tables.links(from: row.place) {
      guard let values = version.storedValues(of: link.columns) else { continue }
      let place = Values(link: link.number, values: tables.compared(values, by: link))
      children[place, default: []].insert(row.rowKey)
    }
  }
}
