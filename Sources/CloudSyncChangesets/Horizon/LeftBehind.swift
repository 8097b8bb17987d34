import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The commits of others that go on from before a squash, and that nothing stands for.
///
/// Those that came before the squash was heard of are in the log, beside the horizon; the others are in records that
/// were refused. This copy's own are not among them: it is told of these as its heads.
struct LeftBehind {
  let work: HistoryWork

  private var rebased: RebasedCommits { RebasedCommits(connection: work.connection) }

  /// Those of the log, and the packs with the others; parents before children.
  private struct Commits {
    var rows: [LogRow] = []
    var packs: [Pack] = []
    var entries: [Pack.Entry] = []
  }

  /// The commits, without their changes, parents before children.
  func changesets() throws(ChangesetError) -> [Changeset] {
    let commits = try commits()
    var found: [Changeset] = []
    for row in commits.rows { found.append(try work.changeset(row: row)) }
    for entry in commits.entries {
      let header = try entry.commit().header
      found.append(Changeset(id: entry.id, header, isPushed: true))
    }
    return found.sorted { ($0.generation, $0.id) < ($1.generation, $1.id) }
  }

  private func commits() throws(ChangesetError) -> Commits {
    guard try Horizon(work.connection) != nil else { return Commits() }
    let own = try work.log.ancestors(of: try work.heads.beside().map(\.seq))
    var commits = Commits()
    let beside = try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE remote = 2 ORDER BY seq"
    ) { $0.integer(0) }
    for seq in beside where !own.contains(seq) {
      let row = try work.log.row(seq)
      if try rebased.contains(row.id) == false { commits.rows.append(row) }
    }
    let refused = try work.connection.rows(
      "SELECT bytes FROM changesets_refused WHERE bytes IS NOT NULL ORDER BY name"
    ) { $0.bytes(0) }
    let aside = CommitsAside(connection: work.connection)
    var seen: Set<ChangesetID> = []
    for bytes in refused {
      guard let pack = try? Pack(bytes) else { continue }
      // A pack that was refused for what is in it says nothing of squashes.
      let entries = try pack.entries.filtered { (entry) throws(ChangesetError) in
        guard try aside.contains(entry.id), try rebased.contains(entry.id) == false,
          try work.log.number(of: entry.id) == nil
        else { return false }
        return seen.insert(entry.id).inserted
      }
      if entries.isEmpty { continue }
      commits.packs.append(pack)
      commits.entries += entries
    }
    commits.entries.sort { ($0.header.generation, $0.id) < ($1.header.generation, $1.id) }
    return commits
  }

  /// Puts all of them into the log, beside the horizon, and returns those that no other of them goes on from; within what
  /// is undone.
  func bringIn() throws(ChangesetError) -> [LogRow] {
    let commits = try commits()
    for pack in commits.packs {
      for schema in pack.schemas {
        _ = try work.dictionaries.number(for: schema)
        try work.dictionaries.keep(declarationsOf: schema)
      }
    }
    let standIns = StandIns(work: work)
    var rows = commits.rows
    var missing: Set<Int64> = []
    for entry in commits.entries {
      let commit = try entry.commit()
      try Fills.keep(delta: commit.changes, work.connection)
      var parents: [Int64] = []
      for (place, id) in entry.header.parents.enumerated() {
        if let seq = try work.log.number(of: id) {
          parents.append(seq)
        } else if place == 0 {
          // What a second parent has is in the history, or among these.
          let row = try standIns.row(for: id, before: commit)
          missing.insert(row.seq)
          parents.append(row.seq)
        }
      }
      var row = try work.log.append(
        commit,
        id: entry.id,
        body: entry.body,
        parents: parents,
        isRemote: true
      )
      row.place = .beside
      try work.log.set(place: .beside, of: row.seq)
      rows.append(row)
    }
    try StateFrames.forget(work.connection)
    let tips = Self.tips(of: rows)
    try standIns.fill(before: tips, missing: missing)
    return tips
  }

  /// Whether a record that is kept for its commits is no use any more: all of them are in the history.
  func isDone(record bytes: [UInt8]) throws(ChangesetError) -> Bool {
    guard let pack = try? Pack(bytes), !pack.entries.isEmpty else { return false }
    for entry in pack.entries {
      if try rebased.contains(entry.id) { continue }
      if try work.log.number(of: entry.id) == nil { return false }
    }
    return true
  }

  private static func tips(of rows: [LogRow]) -> [LogRow] {
    let before = Set(rows.flatMap(\.parents))
    return rows.filter { !before.contains($0.seq) }
  }
}
