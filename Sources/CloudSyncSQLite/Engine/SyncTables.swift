import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables that an engine synchronizes.
struct SyncTables: Sendable {
  /// Parents before children, as far as there are no circles.
  let inOrder: [SyncTable]
  let byID: [Int64: SyncTable]
  private let byName: [String: SyncTable]
  private let byRecordType: [String: SyncTable]
  /// Whether the engine's connection enforces foreign keys.
  let enforcesForeignKeys: Bool
  /// The number that this database writes into its records.
  let writer: Int64

  private let references: [TableReference]
  private let referencesByParent: [String: [TableReference]]

  init(
    _ tables: [SyncTable],
    enforcesForeignKeys: Bool,
    references: [TableReference] = [],
    writer: Int64
  ) {
    self.writer = writer
    inOrder = tables
    byID = Dictionary(tables.map { ($0.id, $0) }) { first, _ in first }
    byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
    byRecordType = Dictionary(tables.map { ($0.layout.recordType, $0) }) { first, _ in first }
    self.enforcesForeignKeys = enforcesForeignKeys
    // What refers to a table from outside does so only where somebody sees to it.
    let names = Set(tables.map(\.name))
    self.references = references.filter {
      enforcesForeignKeys || names.contains($0.child.name)
    }
    referencesByParent = Dictionary(grouping: self.references, by: \.parent.name)
  }

  /// The foreign keys of a table.
  func references(from table: SyncTable) -> [TableReference] {
    references.filter { $0.child.name == table.name }
  }

  /// The foreign keys that refer to a table.
  func references(to table: SyncTable) -> [TableReference] {
    referencesByParent[table.name] ?? []
  }

  func table(named name: String) -> SyncTable? { byName[name] }

  /// The table and the key of a name that is a key of text as it is; nil for any other name.
  func place(ofPlainName name: String) -> (SyncTable, SQLiteValue)? {
    guard name.utf8.first != UInt8(ascii: "~"), let colon = name.utf8.lastIndex(of: 0x3a),
      let table = byRecordType[String(name[name.utf8.index(after: colon)...])],
      table.schema.primaryKey.count == 1
    else { return nil }
    let key = SQLiteValue.text(String(name[..<colon]))
    return UTF8Bytes.equal(table.layout.recordName(key: [key]), name) ? (table, key) : nil
  }
}
