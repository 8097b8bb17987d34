import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Names of commits, and which branches are hidden: of each the latest word counts.
struct Tags {
  enum Kind: Int64, Sendable {
    case tag = 0
    case hiddenBranch = 1
  }

  /// What was said of a name.
  struct Entry: Sendable, Hashable {
    var name: String
    var kind: Kind
    /// The tagged commit; nil where the tag was removed.
    var id: ChangesetID?
    var time: HybridTime
  }

  let connection: HistoryConnection

  func tag(name: String) throws(ChangesetError) -> ChangesetID? {
    try entries(ofKind: .tag).first { $0.name.hasSameBytes(as: name) }?.id
  }

  func entries(ofKind kind: Kind) throws(ChangesetError) -> [Entry] {
    try connection.rows(
      "SELECT name, id, time FROM changesets_tags WHERE kind = ?1 ORDER BY name",
      .integer(kind.rawValue)
    ) { row in
      Entry(
        name: row.text(0) ?? "",
        kind: kind,
        id: row.isNull(1) ? nil : ChangesetID(bytes: row.bytes(1)),
        time: HybridTime(rawValue: row.integer(2))
      )
    }
  }

  /// Takes a word in, unless a later one is known; of two at one time the one with the smaller identifier.
  func take(entry: Entry, isRemote: Bool) throws(ChangesetError) {
    try connection.run(
      """
      INSERT INTO changesets_tags(name, kind, id, time, remote) VALUES(?1, ?2, ?3, ?4, ?5)
      ON CONFLICT(kind, name) DO UPDATE SET id = excluded.id, time = excluded.time,
        remote = excluded.remote
      WHERE (excluded.time, ifnull(id, x'')) > (time, ifnull(excluded.id, x''))
      """,
      .text(entry.name),
      .integer(entry.kind.rawValue),
      entry.id.map { .blob($0.bytes) } ?? .null,
      .integer(entry.time.rawValue),
      .integer(isRemote ? 1 : 0)
    )
  }
}
