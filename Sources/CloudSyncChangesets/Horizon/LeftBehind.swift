import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The commits of others that go on from before a squash, and that nothing stands for.
///
/// Those that came before the squash was heard of are in the log, beside the horizon; the others are in records that
/// were refused. This copy's own are not among them: it is told of these as its heads.
struct LeftBehind {
  let work: HistoryWork

  /// What a look at the log and at the records that were refused has found.
  struct Findings {
    /// The commits, without their changes, parents before children.
    var changesets: [Changeset] = []
    /// The records of which nothing is needed any more: all of their commits are in the history.
    var doneRecords: Set<String> = []
  }

  /// Those of the log, and the packs with the others; parents before children.
  private struct Commits {
    var rows: [LogRow] = []
    var packs: [Pack] = []
    var entries: [Pack.Entry] = []
    var doneRecords: Set<String> = []
  }

  /// The commits, without their changes, parents before children.
  func changesets() throws(ChangesetError) -> [Changeset] {
    try Horizon(work.connection) == nil ? [] : findings().changesets
  }

  /// Reads each record once.
  func findings() throws(ChangesetError) -> Findings {
    let commits = try commits()
    var findings = Findings(doneRecords: commits.doneRecords)
    for row in commits.rows { findings.changesets.append(try work.changeset(row: row)) }
    for entry in commits.entries {
      let header = try entry.commit().header
      findings.changesets.append(Changeset(id: entry.id, header, isPushed: true))
    }
    findings.changesets.sort { ($0.generation, $0.id) < ($1.generation, $1.id) }
    return findings
  }

  private func commits() throws(ChangesetError) -> Commits {
    var commits = Commits()
    let isSquashed = try Horizon(work.connection) != nil
    let beside = isSquashed ? try rowsBeside() : []
    let records = try records()
    // A long history's snapshot stands for many commits: they are only read where something may be left behind.
    if beside.isEmpty, records.isEmpty { return commits }
    let covered = try CoveredCommits(work.connection)
    commits.rows = try beside.filtered { (row) throws(ChangesetError) in
      try covered.isDone(row) == false
    }
    let aside = CommitsAside(connection: work.connection)
    var found: [ChangesetID: Pack.Entry] = [:]
    var lacking: [String: [ChangesetID]] = [:]
    for record in records {
      guard let pack = try? Pack(record.bytes), !pack.entries.isEmpty else { continue }
      let missing = try pack.entries.filtered { (entry) throws(ChangesetError) in
        if try covered.contains(entry.id) { return false }
        return try work.log.number(of: entry.id) == nil
      }
      lacking[record.name] = missing.map(\.id)
      // A pack that was refused for what is in it says nothing of squashes.
      let left = try missing.filtered { (entry) throws(ChangesetError) in
        guard isSquashed, found[entry.id] == nil else { return false }
        return try aside.contains(entry.id)
      }
      if left.isEmpty { continue }
      commits.packs.append(pack)
      for entry in left { found[entry.id] = entry }
    }
    let complete = try complete(entries: Array(found.values), covered)
    found = Dictionary(uniqueKeysWithValues: complete.map { ($0.id, $0) })
    commits.entries = try Self.open(entries: complete, beside: commits.rows, covered)
    for entry in commits.entries { found[entry.id] = nil }
    commits.doneRecords = Set(
      lacking.keys.filter { lacking[$0]?.allSatisfy { found[$0] != nil } ?? true }
    )
    return commits
  }

  /// Those of the log, without this copy's own.
  private func rowsBeside() throws(ChangesetError) -> [LogRow] {
    let own = try work.log.ancestors(of: try work.heads.beside().map(\.seq))
    let beside = try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE remote = 2 ORDER BY seq"
    ) { $0.integer(0) }
    return try beside.filter { !own.contains($0) }
      .map { (seq) throws(ChangesetError) in try work.log.row(seq) }
  }

  private func records() throws(ChangesetError) -> [(name: String, bytes: [UInt8])] {
    try work.connection.rows(
      "SELECT name, bytes FROM changesets_refused WHERE bytes IS NOT NULL ORDER BY name"
    ) { ($0.text(0) ?? "", $0.bytes(1)) }
  }

  /// The commits that go on from nothing but what is here, what the history has, and each other; parents before children.
  ///
  /// What others go on from may have been lost on its way, or come later. It is no part of the history until then, so nothing can
  /// stand in its place: whoever put these on top would leave it out for good.
  private func complete(
    entries: [Pack.Entry],
    _ covered: CoveredCommits
  ) throws(ChangesetError) -> [Pack.Entry] {
    var complete: [Pack.Entry] = []
    var known: Set<ChangesetID> = []
    for entry in entries.sorted(by: {
      ($0.header.generation, $0.id) < ($1.header.generation, $1.id)
    }) {
      let missing = try entry.header.parents.filtered { (id) throws(ChangesetError) in
        if known.contains(id) { return false }
        if try covered.contains(id) { return false }
        return try work.log.number(of: id) == nil
      }
      guard missing.isEmpty else { continue }
      known.insert(entry.id)
      complete.append(entry)
    }
    return complete
  }

  /// Those of the commits, parents before children, of which the history lacks something.
  private static func open(
    entries: [Pack.Entry],
    beside rows: [LogRow],
    _ covered: CoveredCommits
  ) throws(ChangesetError) -> [Pack.Entry] {
    var known = Set(rows.map(\.id))
    var open: [Pack.Entry] = []
    for entry in entries {
      let originals = Set(try entry.commit().header.originals)
      if !originals.isEmpty, known.isDisjoint(with: entry.header.parents),
        try covered.missing(of: originals).isEmpty
      {
        continue
      }
      known.insert(entry.id)
      open.append(entry)
    }
    return open
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
    let ends = Self.tips(of: rows) { $0.parent.map { [$0] } ?? [] }
    try standIns.fill(before: ends, missing: missing)
    return Self.tips(of: rows, \.parents)
  }

  /// The commits that no other of them goes on from.
  private static func tips(of rows: [LogRow], _ parents: (LogRow) -> [Int64]) -> [LogRow] {
    let before = Set(rows.flatMap(parents))
    return rows.filter { !before.contains($0.seq) }
  }
}
