package import CloudSyncCore
import CloudSyncSQLiteSchema

extension ChangesetRepository {
  /// Where the next fetch begins; nil if nothing was fetched yet.
  package func lastChangeToken() throws(ChangesetError) -> ChangeToken? {
    try RemoteState.token(in: self)
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

  /// The name of the user's own zone that the history was synced with; nil if there is none.
  package func zoneName() throws(ChangesetError) -> String? { try RemoteState.ownZone(in: self) }
}
