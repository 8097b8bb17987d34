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
  ///
  /// - Parameter first: The number of that commit: those of the name with smaller ones are this copy's own.
  /// - Throws: What is wrong with the database.
  func change(at first: Int64) throws(ChangesetError) {
    guard work.options.replica == nil else { return }
    let name = try work.replica()
    let former = ReplicaReport.Former(name: name, ends: try ends(of: name, before: first))
    var writer = ByteWriter()
    for former in try formers() + [Former(told: former, end: first)] {
      former.told.write(to: &writer)
      writer.write(UInt64(former.end))
    }
    try work.info.set(.formerReplicas, .blob(writer.bytes))
    let random = Self.random(options: work.options)
    let base = name.utf8.count <= Self.longest ? name : "replica"
    try work.info.set(.replica, .text("\(base)-\(random.suffix(6))"))
  }

  /// A name that this copy had, and the number of the first commit that somebody else has made under it.
  private struct Former {
    var told: ReplicaReport.Former
    var end: Int64
  }

  /// The names that this copy has had, for the others.
  func told() throws(ChangesetError) -> [ReplicaReport.Former] { try formers().map(\.told) }

  /// The commits of a name, with numbers below one, that no other of these goes on from.
  private func ends(of name: String, before end: Int64) throws(ChangesetError) -> [ChangesetID] {
    let numbers = try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE kind = 1 AND seq < ?1 ORDER BY seq",
      .integer(end)
    ) { $0.integer(0) }
    var own: [Int64] = []
    for seq in numbers where try work.isMade(seq, by: name) { own.append(seq) }
    return try work.log.ends(of: own)
      .map { (seq) throws(ChangesetError) in
        try work.log.row(seq).id
      }
  }

  private func formers() throws(ChangesetError) -> [Former] {
    guard let bytes = try work.info.bytes(name: .formerReplicas) else { return [] }
    return try reading("the former names of this copy") { () throws(ByteFault) in
      var reader = ByteReader(bytes)
      var formers: [Former] = []
      while !reader.isAtEnd {
        let told = try ReplicaReport.Former(&reader)
        formers.append(Former(told: told, end: Int64(clamping: try reader.number())))
      }
      return formers
    }
  }

  /// Tells of commits, each with its number and the name of whoever made it, whether this copy did.
  func ownership() throws(ChangesetError) -> (Int64, String) -> Bool {
    let (present, formers) = (try work.replica(), try formers())
    return { seq, name in
      name.hasSameBytes(as: present)
        || formers.contains { seq < $0.end && name.hasSameBytes(as: $0.told.name) }
    }
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

extension HistoryWork {
  /// Whether an edit was made by a replica of a name, and not put on top of a squash by somebody.
  func isMade(_ seq: Int64, by name: String) throws(ChangesetError) -> Bool {
    let commit = try changeset(row: try log.row(seq))
    return commit.originals.isEmpty && commit.replica?.hasSameBytes(as: name) == true
  }
}
