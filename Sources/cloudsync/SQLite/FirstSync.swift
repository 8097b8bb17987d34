import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema

/// What the first sync of a copy's tables with a cloud has changed in rows that they had: the cloud's values and deletions
/// win there.
///
/// Nothing else tells what the rows were, so whoever joins a cloud by mistake has to hear of it at once.
struct FirstSync: Sendable {
  /// The tables that were not synced with it before.
  private let tables: [String]
  /// Whether they were synced with another one: then they take what was edited later, as in every sync, and only what is gone
  /// is told.
  private let isAttaching: Bool
  private var replaced: [RowChanges.Row] = []
  private var deleted: [RowChanges.Row] = []

  var replacedCount: Int { replaced.count }
  var deletedCount: Int { deleted.count }

  init(of tables: [String], isAttaching: Bool) {
    self.tables = tables
    self.isAttaching = isAttaching
  }

  mutating func add(_ changes: RowChanges) {
    let rows = changes.rows.filter { row in tables.contains { $0.isSameName(as: row.table) } }
    if !isAttaching { replaced += rows.filter { $0.kind == .updated } }
    deleted += rows.filter { $0.kind == .deleted }
  }

  /// The warnings for the database of a path.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - united: Rows that have become one with others: they are not gone.
  ///   - held: Rows that are parked or wait: they are beside their tables.
  /// - Returns: The warnings.
  func warnings(
    path: String,
    besides united: [UnitedRow],
    held: [SyncMetadata.HeldRecord]
  ) -> [String] {
    let deleted = deleted.filter { row in
      !united.contains { $0.table == row.table && $0.key == row.key }
        && !held.contains {
          $0.table == row.table && $0.key == row.key.map(\.sqlText).joined(separator: ",")
        }
    }
    var warnings: [String] = []
    if let names = Self.names(replaced) {
      warnings.append(
        "warning: \(path): \(Phrase.count(replaced.count, "row")) had other values than the cloud and took"
          + " the cloud's (\(names)); if these were different rows with the same key, take this copy's from"
          + " a backup and give them keys of their own"
      )
    }
    if let names = Self.names(deleted) {
      let (were, are) = deleted.count == 1 ? ("was", "is") : ("were", "are")
      warnings.append(
        "warning: \(path): \(Phrase.count(deleted.count, "row")) that \(were) deleted in the cloud \(are) deleted here too"
          + " (\(names)); if \(deleted.count == 1 ? "it is" : "they are") to stay, take this copy's from a backup and"
          + " insert them again"
      )
    }
    return warnings
  }

  /// Names one of some rows; nil if there are none.
  private static func names(_ rows: [RowChanges.Row]) -> String? {
    guard let first = rows.first else { return nil }
    let name = "\(first.table) \(first.key.map { "\($0)" }.joined(separator: ", "))"
    return rows.count == 1 ? name : "\(name) and \(rows.count - 1) more"
  }
}
