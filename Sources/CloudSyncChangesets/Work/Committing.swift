import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Makes commits.
struct Committing {
  let work: HistoryWork

  /// The most bytes that the changes of a commit may have.
  static let largestBody = 256 << 20

  /// Commits what was changed since HEAD; nil if nothing was.
  func commit(meta: String, reverts: ChangesetID? = nil) throws(ChangesetError) -> LogRow? {
    let position = try work.heads.position()
    let time = HybridTime.next(after: position.clock, now: work.now)
    let changes = try ParkedChildren(work: work)
      .following(changes: work.uncommitted.changes(at: time), at: time)
    if changes.isEmpty {
      try clear(changes)
      return nil
    }
    guard !position.isDetached else {
      throw ChangesetError.onOlderCommit
    }
    let row = try append(changes, meta: meta, reverts: reverts, at: time, on: position)
    try clear(changes)
    return row
  }

  /// Forgets what the rows were.
  private func clear(_ changes: StateDelta) throws(ChangesetError) {
    try ConvertedValues.forget(replacedBy: changes, in: work.tables, work.connection)
    try work.parked.releaseReplaced(in: work.tables)
    try work.uncommitted.clear()
  }

  /// Appends an edit to the branch of HEAD, and moves both.
  func append(
    _ changes: StateDelta,
    meta: String,
    reverts: ChangesetID? = nil,
    conflicts: [MergeConflict] = [],
    at time: HybridTime,
    on position: Heads.Position
  ) throws(ChangesetError) -> LogRow {
    let parent: LogRow? =
      if let seq = position.seq { try work.log.row(seq) } else { nil }
    let commit = try commit(
      of: changes,
      meta: meta,
      reverts: reverts,
      conflicts: conflicts,
      at: time,
      on: parent,
      branch: position.branch
    )
    let row = try store(commit: commit, parents: [parent])
    try work.heads.advance(position: position, to: row, after: parent, clock: time)
    return row
  }

  /// Makes an edit on a commit, nil for the empty database, and stores nothing.
  func commit(
    of changes: StateDelta,
    meta: String,
    reverts: ChangesetID? = nil,
    conflicts: [MergeConflict] = [],
    at time: HybridTime,
    on parent: LogRow?,
    branch: Int64
  ) throws(ChangesetError) -> Commit {
    guard meta.utf8.count <= CommitReader.longestMeta else {
      throw ChangesetError(.tooLarge, "what is said of a commit has at most 65,536 bytes")
    }
    guard time < CommitReader.limit else {
      throw ChangesetError(.misuse, "the clock is beyond the year 2200; set it right")
    }
    let changes = try DefaultFills(work: work).stating(changes: changes, after: parent)
    let frames = try StateFrames(work.connection)
    try frames.keep()
    let header = CommitHeader(
      kind: .edit,
      schema: work.tables.id,
      parents: parent.map { [$0.id] } ?? [],
      generation: (parent?.generation ?? 0) + 1,
      time: time,
      replica: try work.replica(),
      branch: try work.dictionaries.name(number: branch),
      reverts: reverts,
      meta: meta,
      stateHash: (parent?.stateHash ?? .zero)
        .adding(
          changes,
          from: try frames.frame(of: parent),
          to: try frames.frame(of: try work.schemaNumber(), after: parent)
        )
    )
    return Commit(header: header, changes: changes, conflicts: conflicts)
  }

  /// Writes a commit into the log, if it is not there yet, and no head.
  ///
  /// - Throws: That it goes on from what the tables here cannot have: what they lack would be gone for everybody.
  func store(commit: Commit, parents: [LogRow?]) throws(ChangesetError) -> LogRow {
    if commit.header.kind != .migration {
      for parent in parents.compactMap({ $0 }) { try work.checkKnown(parent) }
    }
    let body = CommitWriter.body(of: commit)
    guard body.count <= Self.largestBody else {
      throw ChangesetError(
        .tooLarge,
        "the commit has \(body.count >> 20) MB, and commits have at most 256; commit more often"
      )
    }
    let id = ChangesetID(digestOf: CommitWriter.head(of: commit.header), body)
    // Another replica has done the same, and its commit has come: the log has every commit once.
    if let seq = try work.log.number(of: id) { return try work.log.row(seq) }
    var row = try work.log.append(
      commit,
      id: id,
      body: body,
      parents: parents.compactMap { $0?.seq },
      isRemote: false
    )
    if let horizon = try Horizon(work.connection),
      !horizon.includes(childOf: parents.compactMap { $0 })
    {
      row.place = .beside
      try work.log.set(place: .beside, of: row.seq)
    }
    try DecidedEdits(log: work.log).note(commit: commit, row: row)
    try RebasedCommits(connection: work.connection).note(row: row, header: commit.header)
    if parents.first??.schema != row.schema { try StateFrames.forget(work.connection) }
    return row
  }
}

extension HistoryWork {
  /// What this copy is called.
  func replica() throws(ChangesetError) -> String {
    if let name = options.replica { return name }
    guard let name = try info.text(name: .replica) else {
      throw ChangesetError(.damaged, "the history does not know its replica's name; restore a copy")
    }
    return name
  }

  /// The number of the present schema.
  func schemaNumber() throws(ChangesetError) -> Int64 {
    if let number = try dictionaries.number(ofSchema: tables.id) { return number }
    return try dictionaries.number(for: tables.description)
  }

  /// Throws if a commit has what the tables here lack: the rows cannot become its rows, nothing is merged with it, and
  /// nothing committed on it, or what it has more would be gone there.
  func checkKnown(_ row: LogRow) throws(ChangesetError) {
    if try dictionaries.schemaID(number: row.schema) == tables.id { return }
    let theirs = try dictionaries.schema(number: row.schema)
    if let (table, column) = try columnDropped(before: row) {
      throw ChangesetError(
        .needsUpgrade,
        "column \(table.quotedName).\(column.quotedName), which this database still has, was dropped before commit"
          + " \(row.id.short); update the app"
      )
    }
    do throws(ChangesetError) {
      try SchemaComparison(mine: tables.description, theirs: theirs).checkReadable(id: row.id)
    } catch {
      guard error.code == .needsUpgrade, try isLeft(schema: row.schema) else { throw error }
      throw ChangesetError(
        .needsUpgrade,
        "commit \(row.id.short) has other tables, which a migration has changed since, so its rows do not fit; “show” and"
          + " “diff” read it"
      )
    }
  }

  /// Whether a schema is one that migrations to a known one have left behind.
  func isLeft(schema: Int64) throws(ChangesetError) -> Bool {
    var open = [schema]
    var seen: Set<Int64> = [schema]
    while let next = open.popLast() {
      for later in try log.schemas(madeOf: next) where seen.insert(later).inserted {
        if try knows(schema: later) { return true }
        open.append(later)
      }
    }
    return false
  }

  /// Whether the tables here have all that a schema has.
  func knows(schema: Int64) throws(ChangesetError) -> Bool {
    if try dictionaries.schemaID(number: schema) == tables.id { return true }
    return tables.description.covers(try dictionaries.schema(number: schema))
  }
}
