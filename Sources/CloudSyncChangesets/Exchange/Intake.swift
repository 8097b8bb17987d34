import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Takes commits of others into the log, each once, parents before children.
struct Intake {
  let work: HistoryWork
  private let frames: StateFrames
  /// Whether changes of old commits were removed here, and everything is fetched again to get them.
  private let bringsBack: Bool
  /// What this copy is called, if nobody else may be.
  private let replica: String?
  private let horizon: Horizon?
  /// The beginnings of the identifiers that a snapshot stands for.
  private let below: Set<[UInt8]>
  /// What no cloud is known to have, though it came from one.
  private let strays: Set<ChangesetID>
  private let found = Findings()

  private final class Findings {
    /// The number of the first new commit that this copy should have made.
    var ownName: Int64?
    /// Those that have waited, and are in no record that is being taken.
    var waited: Set<ChangesetID> = []
    /// How many of them are in one, and no snapshot stands for them.
    var besideCount = 0
  }

  /// How many commits were left out because they do not go on from the horizon.
  var besideCount: Int { found.besideCount }

  init(work: HistoryWork) throws(ChangesetError) {
    self.work = work
    frames = try StateFrames(work.connection)
    bringsBack = try work.info.integer(.refill) != nil
    let mayForget = try work.info.integer(.forgets) != nil || work.options.replica != nil
    replica = mayForget ? nil : try work.replica()
    horizon = try Horizon(work.connection)
    strays = try StrayCommits(connection: work.connection).ids()
    below = horizon == nil ? [] : try SnapshotRoots(connection: work.connection).below()
  }

  /// Takes a pack in; returns the commits that are new.
  func take(pack: Pack) throws(ChangesetError) -> [LogRow] {
    for schema in pack.schemas {
      _ = try work.dictionaries.number(for: schema)
      try work.dictionaries.keep(declarationsOf: schema)
    }
    if pack.schemas.contains(where: { $0.id != work.tables.id }) {
      try DefaultFills(work: work).keep()
      try frames.refresh()
    }
    var new: [LogRow] = []
    for entry in pack.entries {
      new += try take(entry: entry)
      // What the index lacks is searched one by one.
      try work.log.index(unlessFewerThan: 50)
    }
    if let first = found.ownName { try ReplicaName(work: work).change(at: first) }
    try frames.keep()
    for tag in pack.tags {
      try Tags(connection: work.connection).take(entry: tag, isRemote: true)
      try work.heads.notice(time: tag.time)
    }
    return new
  }

  private func take(entry: Pack.Entry) throws(ChangesetError) -> [LogRow] {
    if let seq = try work.log.number(of: entry.id) {
      if !strays.contains(entry.id) { try work.log.setRemote(seq: seq) }
      if bringsBack {
        try GoneChanges(connection: work.connection).bringBack(body: entry.body, of: seq)
      }
      return []
    }
    var new: [LogRow] = []
    var ready = [entry]
    while let next = ready.popLast() {
      guard let row = try keep(entry: next) else {
        // What waits for it would wait for ever.
        if try aside.contains(next.id) {
          ready += try released(by: next.id)
          if found.waited.contains(next.id) { try refuse(entry: next) }
        }
        continue
      }
      new.append(row)
      ready += try released(by: next.id)
    }
    return new
  }

  /// Appends a commit whose parents are here; others wait.
  private func keep(entry: Pack.Entry) throws(ChangesetError) -> LogRow? {
    let commit = try entry.commit()
    if let horizon, entry.header.generation <= horizon.row.generation {
      // What a snapshot stands for is no loss.
      if !below.contains(entry.id.beginning) { try setAside(entry: entry) }
      return nil
    }
    var parents: [LogRow] = []
    for id in entry.header.parents {
      guard let seq = try work.log.number(of: id) else {
        var isAside = below.contains(id.beginning)
        if !isAside { isAside = try aside.contains(id) }
        if isAside { try setAside(entry: entry) } else { try wait(entry: entry, for: id) }
        return nil
      }
      parents.append(try work.log.row(seq))
    }
    if let horizon, !horizon.includes(childOf: parents) {
      try setAside(entry: entry)
      return nil
    }
    try check(commit: commit, entry.id, parents: parents)
    let row = try work.log.append(
      commit,
      id: entry.id,
      body: entry.body,
      parents: parents.map(\.seq),
      isRemote: !strays.contains(entry.id)
    )
    try DecidedEdits(log: work.log).note(commit: commit, row: row)
    try frames.notice(row: row, after: parents.first)
    // What others have rebased is called by the name of whoever made it first.
    if let replica, row.kind == .edit, commit.header.originals.isEmpty,
      commit.header.replica.hasSameBytes(as: replica)
    {
      found.ownName = min(found.ownName ?? row.seq, row.seq)
    }
    try work.heads.replace(by: row, after: parents)
    try RebasedCommits(connection: work.connection).note(row: row, header: commit.header)
    try work.heads.notice(time: row.time)
    return row
  }

  private var aside: CommitsAside { CommitsAside(connection: work.connection) }

  private func setAside(entry: Pack.Entry) throws(ChangesetError) {
    try aside.add(entry.id)
    if !found.waited.contains(entry.id) { found.besideCount += 1 }
  }

  /// Keeps a commit that has waited, as a record of its own that is no use.
  private func refuse(
    entry: Pack.Entry,
    because reason: String = PackIntake.reason(besideCount: 1)
  ) throws(ChangesetError) {
    var pack = Pack()
    guard let number = try work.dictionaries.number(ofSchema: entry.header.schema) else { return }
    pack.schemas = [try work.dictionaries.schema(number: number)]
    pack.entries = [entry]
    let bytes = pack.bytes
    try PackIntake(work: work)
      .refuse(name: Pack.name(of: bytes), because: reason, bytes: bytes)
  }

  /// Puts aside what waits when all is here that the zone holds.
  ///
  /// Replicas send a commit after what it goes on from, but for what does not go on from the horizon: that nobody sends
  /// once a zone was lost, though a commit that goes on from it may have been on its way into the next one. The
  /// next fetch tries again. A record that cannot be read may hold what is waited for.
  func setAsideWhatWaits() throws(ChangesetError) {
    guard horizon != nil, try PackIntake(work: work).hasUnread() == false else { return }
    for entry in try waiting() {
      try refuse(entry: entry, because: PackIntake.lacksParents)
      try aside.add(entry.id)
    }
  }

  /// Takes in what waits, now that the horizon is another one.
  func takeWaiting() throws(ChangesetError) -> [LogRow] {
    var new: [LogRow] = []
    let entries = try waiting().sorted { $0.header.generation < $1.header.generation }
    try work.connection.run("DELETE FROM changesets_waiting")
    found.waited.formUnion(entries.map(\.id))
    for entry in entries { new += try take(entry: entry) }
    try frames.keep()
    return new
  }

  private func check(
    commit: Commit,
    _ id: ChangesetID,
    parents: [LogRow]
  ) throws(ChangesetError) {
    let header = commit.header
    let generation = (parents.map(\.generation).max() ?? 0) + 1
    let latest = parents.map(\.time).max() ?? .zero
    let isInTime = header.kind == .edit ? header.time > latest : header.time == latest
    let before = parents.first?.stateHash ?? .zero
    if commit.changes.tables.contains(where: { !$0.fills.isEmpty }) {
      try Fills.keep(delta: commit.changes, work.connection)
      try work.keepConvertedFills(of: commit.changes)
      try frames.refresh()
    }
    guard let schema = try work.dictionaries.number(ofSchema: header.schema) else {
      throw ChangesetError(.damaged, "the schema of commit \(id.short) is not described")
    }
    let after = before.adding(
      commit.changes,
      from: try frames.frame(of: parents.first),
      to: try frames.frame(of: schema, after: parents.first)
    )
    guard header.generation == generation, isInTime, after == header.stateHash else {
      throw ChangesetError(
        .damaged,
        "commit \(id.short) is not what it says: it does not follow its parents"
      )
    }
  }

  // MARK: Commits that wait

  private func wait(entry: Pack.Entry, for parent: ChangesetID) throws(ChangesetError) {
    try work.connection.run(
      "REPLACE INTO changesets_waiting VALUES(?1, ?2, ?3)",
      .blob(entry.id.bytes),
      .blob(parent.bytes),
      .blob(CommitWriter.head(of: entry.header) + entry.body)
    )
  }

  private func released(by id: ChangesetID) throws(ChangesetError) -> [Pack.Entry] {
    let entries = try waiting(for: id)
    try work.connection.run(
      "DELETE FROM changesets_waiting WHERE missing = ?1",
      .blob(id.bytes)
    )
    found.waited.formUnion(entries.map(\.id))
    return entries
  }

  /// What waits for a commit, or for any.
  private func waiting(for id: ChangesetID? = nil) throws(ChangesetError) -> [Pack.Entry] {
    let waiting = try work.connection.rows(
      """
      SELECT bytes FROM changesets_waiting WHERE missing = ?1 OR ?1 IS NULL AND missing IS NOT NULL
      ORDER BY id DESC
      """,
      id.map { .blob($0.bytes) } ?? .null
    ) { $0.bytes(0) }
    var entries: [Pack.Entry] = []
    for bytes in waiting {
      let entry = try reading("a waiting commit") { () throws(ByteFault) in
        var reader = ByteReader(bytes)
        let header = try CommitReader.head(&reader)
        let body = Array(try reader.raw(reader.remaining))
        let id = ChangesetID(digestOf: CommitWriter.head(of: header), body)
        return Pack.Entry(id: id, header: header, body: body)
      }
      entries.append(entry)
    }
    return entries
  }
}

extension CommitLog {
  /// Notes that the cloud has a commit.
  func setRemote(seq: Int64) throws(ChangesetError) {
    try connection.run(
      "UPDATE changesets_log SET remote = 1 WHERE seq = ?1 AND remote = 0",
      .integer(seq)
    )
  }
}

extension HorizonAdoption {
  /// Does it, and takes in what has waited and can be had now; returns what is new.
  func runTakingWaiting() throws(ChangesetError) -> [ChangesetID] {
    let isLater = try run() != nil
    let intake = try Intake(work: work)
    let new = isLater ? try intake.takeWaiting().map(\.id) : []
    try intake.setAsideWhatWaits()
    return new
  }
}
