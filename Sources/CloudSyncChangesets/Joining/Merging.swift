import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Makes merges and keeps them; rows stay where they are until a pull.
struct Merging {
  let work: HistoryWork
  let graph: HistoryGraph
  private let merges: MergeWork

  init(_ work: HistoryWork) throws(ChangesetError) {
    self.work = work
    let graph = HistoryGraph(work)
    self.graph = graph
    let questions = Questions(work: work, graph: graph)
    var rules = MergeRules(work).mutated(by: work)
    rules.constants = [
      try work.tables.defaults.fills(of: work.tables),
      try Fills.read(work.connection),
    ]
    merges = MergeWork(graph, rules: rules, handler: questions.handler)
  }

  /// Merges the heads of a branch until one is left; those about which a question is open stay.
  func mergeAll(branch: Int64) throws(ChangesetError) -> [LogRow] {
    try DefaultFills(work: work).keep()
    var queue = try queue(ofBranch: branch)
    var made: [LogRow] = []
    while let (one, other) = queue.next() {
      let plan = try merges.plan(one, other)
      guard plan.questions.isEmpty else { break }
      let row = try keep(plan: plan, branch: branch)
      queue.add(row.id, generation: row.generation)
      made.append(row)
    }
    return made
  }

  /// Merges a branch's head into another branch, whose head may be older.
  func merge(theirs: LogRow, into ours: LogRow, branch: Int64) throws(ChangesetError) -> LogRow {
    if theirs.isBeside || ours.isBeside { throw ChangesetError.behindHorizon }
    for row in [ours, theirs] { try work.checkKnown(row) }
    let plan = try merges.plan(ours.id, theirs.id)
    guard plan.questions.isEmpty else {
      throw ChangesetError(
        .unmerged,
        "\(plan.questions.count) rows wait for an answer before the branches can be merged"
      )
    }
    return try keep(plan: plan, branch: branch)
  }

  /// What is asked before heads of a branch can be merged.
  func questions(branch: Int64) throws(ChangesetError) -> [ContestedRow] {
    var queue = try queue(ofBranch: branch)
    guard let (one, other) = queue.next() else { return [] }
    return try merges.plan(one, other).questions
  }

  /// The heads of a branch that are to be merged: what this version of the app does not know it does not merge.
  private func queue(ofBranch branch: Int64) throws(ChangesetError) -> MergeQueue {
    var queue = MergeQueue()
    for head in try work.branchHeads.joinable(ofBranch: branch) {
      let row = try work.log.row(head.seq)
      guard try work.knows(row) else { continue }
      queue.add(row.id, generation: row.generation)
    }
    return queue
  }

  /// What takes a commit back, or puts it back, against HEAD: what others had written beside it is not taken back.
  ///
  /// - Parameters:
  ///   - row: The commit.
  ///   - former: The parent whose state counts as the one before it; nil for the empty database.
  ///   - head: HEAD.
  /// - Returns: The changes of HEAD.
  /// - Throws: That the history is damaged, or lacks changes.
  func reversal(
    of row: LogRow,
    to former: Int64?,
    head: LogRow
  ) throws(ChangesetError) -> MergePlan {
    let parent = try work.log.id(seq: former)
    var beside = StateDelta()
    if let parent, !HistoryMutant.undoneWithOthers.isPresent {
      beside = try WrittenBeside(work: work, merges: merges)
        .changes(beside: row, parent: parent, within: head)
    }
    var plan = try merges.plan(over: [row.id], ours: head.id, theirs: parent, beside: beside)
    plan.changes = plan.changes.kept(in: work.tables)
    return try settled(plan: plan)
  }

  /// What a commit beside the horizon has that another lacks, against that one.
  func rebase(
    of row: LogRow,
    over bases: [LogRow],
    onto target: LogRow,
    along line: RebaseLine
  ) throws(ChangesetError) -> MergePlan {
    let plan = try merges.plan(over: bases.map(\.id), ours: target.id, theirs: row.id) {
      (names) throws(ChangesetError) in
      // Several bases are merged first.
      guard bases.count < 2 else { return nil }
      return try line.changes(from: bases.first?.seq, to: target.seq, as: names)
    }
    return try settled(plan: plan)
  }

  private func keep(plan: MergePlan, branch: Int64) throws(ChangesetError) -> LogRow {
    var plan = try settled(plan: plan.mutated(by: work))
    let first = try work.log.row(try graph.number(id: plan.parents[0]))
    let second = try work.log.row(try graph.number(id: plan.parents[1]))
    let schema = try schema(of: first, second)
    // On the way from what both have in common a column may have come and gone.
    let known = try [first.schema, schema]
      .map { (number) throws(ChangesetError) in
        try work.dictionaries.schema(number: number)
      }
    plan.changes = plan.changes.kept { name in
      let tables = known.compactMap { $0.table(name) }
      return { column in tables.contains { $0.column(column) != nil } }
    }
    plan.changes = try DefaultFills(work: work).stating(changes: plan.changes, after: first)
    let frames = try StateFrames(work.connection)
    try frames.keep()
    var commit = plan.commit(
      branch: try work.dictionaries.name(number: branch),
      schema: try work.dictionaries.schemaID(number: schema),
      stateHash: first.stateHash.adding(
        plan.changes,
        from: try frames.frame(of: first),
        to: try frames.frame(of: schema, after: first)
      )
    )
    commit.mutate(by: work)
    let row = try Committing(work: work).store(commit: commit, parents: [first, second])
    try work.heads.replace(by: row, after: [first, second])
    try work.heads.notice(time: row.time)
    try Answers(connection: work.connection).forget(ours: plan.ours, plan.theirs)
    return row
  }

  /// The schema of a merge: a parent's, where the tables here differ from it in types and defaults alone.
  ///
  /// Replicas with such tables make one merge of the same parents.
  private func schema(of first: LogRow, _ second: LogRow) throws(ChangesetError) -> Int64 {
    let own = try work.schemaNumber()
    if first.schema == own, second.schema == own { return own }
    let (one, other) = (
      try work.dictionaries.schema(number: first.schema),
      try work.dictionaries.schema(number: second.schema)
    )
    var choices = [(first.schema, one), (second.schema, other)]
    // Whoever gets all from the cloud makes the tables of the later version.
    let later = try work.log.schemas(madeOf: first.schema)
    if later.contains(second.schema) { choices.reverse() }
    for (number, description) in choices
    where description.covers(one) && description.covers(other)
      && description.isLike(work.tables.description)
    {
      return number
    }
    return own
  }

  /// Whether one of the parents was made where a unique key was missing that the tables here have.
  private func lacksUniqueKeys(plan: MergePlan) throws(ChangesetError) -> Bool {
    for parent in plan.parents {
      let row = try work.log.row(try graph.number(id: parent))
      if try work.dictionaries.schemaID(number: row.schema) == work.tables.id { continue }
      let theirs = try work.dictionaries.schema(number: row.schema)
      for table in work.tables.description.tables {
        guard let before = theirs.table(table.name) else { continue }
        if !Set(table.uniqueKeys).isSubset(of: before.uniqueKeys) { return true }
      }
    }
    return false
  }

  /// The plan after the constraints of the tables are settled.
  private func settled(plan: MergePlan) throws(ChangesetError) -> MergePlan {
    var isTied = plan.needsSettlement(in: work.tables)
    if !isTied { isTied = try lacksUniqueKeys(plan: plan) }
    guard isTied else { return plan }
    let first = try graph.number(id: plan.parents[0])
    let present = try work.heads.position().seq
    return try work.connection.undoing { () throws(ChangesetError) in
      try work.connection.withoutTriggers { () throws(ChangesetError) in
        try work.parking.write(try work.uncommitted.changes(at: .zero).inverted(at: .zero))
        try work.parking.write(
          try work.log.changes(from: present, to: first).kept(in: work.tables)
        )
        return try Settlement(plan, connection: work.connection, tables: work.tables).settled()
      }
    }
  }
}

extension MergeRules {
  /// What the app has settled, by the names of the tables as they are declared.
  init(_ work: HistoryWork) {
    self.init()
    for table in work.tables.tables {
      columns[table.name] = table.columns
      let settings = work.options.settings(of: table.name)
      tables[table.name] = Table(
        merging: settings.merging,
        uniqueKeys: settings.uniqueKeys,
        orphans: settings.orphans,
        sharesKeys: table.schema.hasIntegerKey && !settings.hasUniqueIntegerKeys
      )
    }
  }
}
