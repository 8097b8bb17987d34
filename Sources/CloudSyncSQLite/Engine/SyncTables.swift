import CloudSyncCore
import CloudSyncSQLiteSupport

/// The tables that an engine synchronizes.
struct SyncTables: Sendable {
  /// Parents before children, as far as there are no circles.
  let inOrder: [SyncTable]
  let byID: [Int64: SyncTable]
  private let byName: [String: SyncTable]
  /// Whether the engine's connection enforces foreign keys.
  let enforcesForeignKeys: Bool

  init(_ tables: [SyncTable], enforcesForeignKeys: Bool) {
    inOrder = tables
    byID = Dictionary(tables.map { ($0.id, $0) }) { first, _ in first }
    byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
    self.enforcesForeignKeys = enforcesForeignKeys
  }

  func table(named name: String) -> SyncTable? { byName[name] }
}
