public import CloudSyncCore

/// The rows that an engine has changed in one transaction, for apps that observe their database by themselves.
///
/// ```swift
/// engine.changes.sink { changes in
///   for row in changes.rows where row.table == "notes" { reload(row.key) }
/// }
/// ```
///
/// It is told after the transaction is committed, in the order of the transactions. What follows from a row belongs to
/// it: rows that a foreign key's action or a trigger of the app's changes in synchronized tables.
///
/// Edits of the app's own are not among them, nor what an engine of another process writes: compare
/// ``SyncDatabase/dataVersion()`` for that. With GRDB, use its own observation.
public struct RowChanges: Sendable, Hashable {
  /// What has happened to a row.
  public enum Kind: Sendable, Hashable, CaseIterable {
    case inserted, updated, deleted
  }

  /// A row that was changed.
  public struct Row: Sendable, Hashable {
    /// The table's name.
    public let table: String
    /// The values of the row's key, in the order of the key's columns, as the table stores them.
    public let key: [FieldValue]
    /// What has happened to it, from the transaction's beginning to its end.
    public let kind: Kind
  }

  /// Each row once, in the order in which they were changed first.
  public let rows: [Row]

  /// The names of the tables that have other rows now, each once, in the same order.
  public var tables: [String] {
    var names: [String] = []
    for row in rows where names.last != row.table && !names.contains(row.table) {
      names.append(row.table)
    }
    return names
  }
}

extension RowChanges.Kind {
  /// What two changes of one row come to; nil if that is nothing.
  func followed(by next: Self) -> Self? {
    switch (self, next) {
    case (.inserted, .deleted): nil
    case (.inserted, _): .inserted
    case (.deleted, .inserted): .updated
    case (_, .deleted): .deleted
    default: .updated
    }
  }
}
