import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What this copy of a history is called in its commits.
struct ReplicaName {
  let work: HistoryWork

  /// The longest name that another part is put behind.
  private static let longest = 200

  /// Takes another name: a commit has come that is called this copy's own, and it has never made it.
  ///
  /// The database's file was copied, and both go on; or it was restored, and is older than what it had sent.
  /// No commit is lost by that, but each would take the other's edits back with its own undo. A name that the
  /// app has given stays.
  func change() throws(ChangesetError) {
    guard work.options.replica == nil else { return }
    let name = try work.replica()
    let random = Self.random(options: work.options)
    let base = name.utf8.count <= Self.longest ? name : "replica"
    try work.info.set(.replica, .text("\(base)-\(random.suffix(6))"))
  }

  /// Whether a name is this copy's, or was before it had to take another one.
  func isOrWas(_ name: String) throws(ChangesetError) -> Bool {
    let present = try work.replica()
    return present.hasSameBytes(as: name) || present.utf8.starts(with: (name + "-").utf8)
  }

  /// Twelve hexadecimal digits.
  static func random(options: ChangesetOptions) -> String {
    let number = SplitMix64.first(of: options.environment.nonce())
    return String(StateHash(high: 0, low: number).text.suffix(12))
  }
}
