package import CloudSyncCore
import CloudSyncSQLiteSchema

extension ChangesetRepository {
  /// Takes the history out of its zone: the next ``ChangesetRemote`` may be one of another zone or another cloud,
  /// which gets all commits, or after a squash those from its snapshot on.
  ///
  /// It is also the way on where a cloud has lost all that it knew. What the former zone holds stays there. No remote of
  /// this history may be at work meanwhile.
  ///
  /// - Throws: What is wrong with the database.
  public func leaveCloud() throws(ChangesetError) { try RemoteState.leave(in: self) }

  /// Where the next fetch begins; nil if nothing was fetched yet.
  package func lastChangeToken() throws(ChangesetError) -> ChangeToken? {
    try RemoteState.token(in: self)
  }

  /// The tables that the history is about, by the bytes of their names.
  package func trackedTables() throws(ChangesetError) -> [String] {
    try read { (work) throws(ChangesetError) in work.tables.tables.map(\.name) }
  }

  /// The tables whose integer keys SQLite gives, which nobody has declared to be unique.
  package func tablesWithIntegerKeys() throws(ChangesetError) -> [String] {
    try read { (work) throws(ChangesetError) in
      work.tables.tables
        .filter {
          $0.schema.hasIntegerKey && !work.options.settings(of: $0.name).hasUniqueIntegerKeys
        }
        .map(\.name)
    }
  }

  /// Why the unique keys of a table stand in the way of copies; nil if they do not.
  ///
  /// Each copy would park another of two rows that are equal in a computed key.
  package func computedKeyReason() throws(ChangesetError) -> String? {
    try read { (work) throws(ChangesetError) in
      for table in work.tables.tables {
        guard let key = table.schema.computedUniqueKeys.first else { continue }
        return "a unique key of table “\(table.name)” looks at what is computed (\(key)), so that"
          + " copies cannot agree which of two rows keeps its place; remove that key"
      }
      return nil
    }
  }

  /// The name of the user's own zone that the history was synced with; nil if there is none.
  package func zoneName() throws(ChangesetError) -> String? { try RemoteState.ownZone(in: self) }
}
