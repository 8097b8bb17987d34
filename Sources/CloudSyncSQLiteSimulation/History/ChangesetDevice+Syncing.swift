import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSimulator

extension ChangesetDevice {
  /// Commits, exchanges, merges and pulls, unless that is on its way: then once more after it.
  func sync() { begin { (remote) async throws(ChangesetError) in _ = try await remote.sync() } }

  /// Uploads everything again: the zone is gone.
  func reset() { begin { (remote) async throws(ChangesetError) in try await remote.reset() } }

  private func begin(
    body: @escaping @Sendable (ChangesetRemote) async throws(ChangesetError) -> Void
  ) {
    let tasks = app.withLock { app -> SimulatedTasks? in
      guard app.remote != nil else { return nil }
      app.wantsSync = app.isSyncing
      guard !app.isSyncing else { return nil }
      app.isSyncing = true
      return app.tasks
    }
    tasks?
      .begin { [weak self] in
        guard let self, let process = app.withLock({ $0.process }), process.isAlive else { return }
        await run(body: body)
        let isWanted = app.withLock { app in
          app.isSyncing = false
          defer { app.wantsSync = false }
          return app.wantsSync
        }
        if isWanted { sync() }
      }
  }

  private func run(
    body: @escaping @Sendable (ChangesetRemote) async throws(ChangesetError) -> Void
  ) async {
    guard let remote, let process = app.withLock({ $0.process }) else { return }
    do throws(ChangesetError) {
      try doChore(process: process)
      try await body(remote)
      try await squash(remote: remote, process: process)
      try await rebaseOthers(remote: remote, process: process)
    } catch {
      guard process.isAlive else { return }
      if error.code == .behindHorizon { await rebase(remote: remote) } else { note(error: error) }
    }
  }

  // MARK: What users do with a history

  /// Does one of the things that users do now and then, where it is possible.
  private func doChore(process: DeviceProcess) throws(ChangesetError) {
    guard let repository else { return }
    let isFaultFree = process.ratio(of: .killed).hits == 0
    let choice = history.withLock { $0.chores.below(24) }
    do throws(ChangesetError) {
      if putsAnswersOff, isFaultFree || choice % 2 == 0 { try answer(repository: repository) }
      if try repository.head().isDetached { try comeBack(repository: repository) }
      // In the end all are on one branch.
      if isFaultFree || choice == 0 { return try goToMain(repository: repository) }
      switch choice {
      case 1: _ = try repository.undo()
      case 2: try redo(repository: repository)
      case 3: try revert(repository: repository)
      case 4: try lookBack(repository: repository)
      case 5: if !putsAnswersOff, hasBranches { try branch(repository: repository) }
      case 6: try repository.tag("mark-\(setup.number)", .head)
      case 7: if !(try repository.head().branch == "main") { _ = try repository.mergeAll("main") }
      case 8: try restoreConflict(repository: repository)
      case 9: try collect(repository: repository, process: process)
      case 10: try takeForgery(repository: repository)
      case 11: try deleteBranch(repository: repository)
      case 12...19: try mergeBranches(repository: repository, choice: choice)
      default: break
      }
    } catch {
      // Not everything can be done always.
      let usual: [ChangesetError.Code] = [
        .uncommittedChanges, .unmerged, .detached, .noSuchRevision, .noSuchBranch, .needsUpgrade,
        .misuse,
        .schema,
      ]
      if lacksOldChanges(error) {
        guard history.withLock({ $0.hasCollected }) else { return }
        // As the error says: everything is fetched again.
        try remote?.resetLastChangeToken()
        return
      }
      if !usual.contains(error.code) { throw error }
    }
  }

  /// Gives the responses that were put off.
  private func answer(repository: ChangesetRepository) throws(ChangesetError) {
    // A response brings the next question: heads are merged two by two.
    for _ in 0..<50 {
      guard let question = try repository.conflicts().first?.question else { return }
      try repository.resolve(question, .automatic)
    }
  }

  /// Removes old changes, unless the cloud may lose what it has.
  ///
  /// Others might lack them for ever then. One device keeps all of its own, for whoever needs them.
  private func collect(
    repository: ChangesetRepository,
    process: DeviceProcess
  ) throws(ChangesetError) {
    let losses: [FaultPoint] = [.zoneDeleted, .zonePurged, .zoneReset, .storeRestored]
    guard setup.number > 0, losses.allSatisfy({ process.ratio(of: $0).hits == 0 }) else { return }
    let depth = history.withLock { $0.chores.below(12) }
    if try repository.gc(depth: depth).commits > 0 { history.withLock { $0.hasCollected = true } }
  }

  /// Takes records as somebody else may have written them: none of it is taken for commits.
  private func takeForgery(repository: ChangesetRepository) throws(ChangesetError) {
    guard let pack = try repository.packOfLast(10) else { return }
    let before = try repository.log(LogQuery(isOfAllBranches: true)).count
    var bytes = pack.bytes
    let (place, bit, isShort) = history.withLock { history in
      (history.chores.below(bytes.count), history.chores.below(8), history.chores.chance(1, in: 3))
    }
    var name = pack.name
    if isShort {
      bytes.removeLast(bytes.count - place)
      name = ChangesetRepository.packName(of: bytes)
    } else {
      bytes[place] ^= 1 << UInt8(bit)
    }
    history.withLock { [name] in _ = $0.forgeries.insert(name) }
    try repository.take(packNamed: name, bytes: bytes)
    if try repository.forgetRefused(name) == false { note("forged record \(name) was not refused") }
    if try repository.log(LogQuery(isOfAllBranches: true)).count != before {
      note("forged record \(name) has brought commits")
    }
  }

  private func goToMain(repository: ChangesetRepository) throws(ChangesetError) {
    let head = try repository.head()
    guard head.branch != "main" || head.isDetached else { return }
    try repository.commit()
    _ = try repository.mergeAll("main")
    try repository.switchBranch("main")
  }

  private func branch(repository: ChangesetRepository) throws(ChangesetError) {
    try repository.commit()
    let names = try repository.branches().map(\.name)
    let current = try repository.head().branch
    if current != "main" {
      _ = try repository.mergeAll()
      _ = try repository.mergeAll("main")
      try repository.switchBranch("main")
      _ = try repository.merge(current)
      _ = try repository.pull()
      return
    }
    if !names.contains("side") { try createSide(repository: repository) }
    _ = try repository.mergeAll("side")
    try repository.switchBranch("side")
  }

  /// Begins a branch, or gets one back that was deleted, as the error says.
  private func createSide(repository: ChangesetRepository) throws(ChangesetError) {
    do throws(ChangesetError) { try repository.createBranch("side") } catch {
      guard error.code == .invalidName,
        let end = try repository.log(LogQuery(branch: "side", count: 1)).first
      else { throw error }
      try repository.createBranch("side", at: Revision(end.id))
    }
  }

  /// Deletes the branch that others may be on.
  private func deleteBranch(repository: ChangesetRepository) throws(ChangesetError) {
    guard try repository.head().branch == "main",
      try repository.branches().contains(where: { $0.name == "side" })
    else { return }
    try repository.deleteBranch("side")
    if try repository.branches().contains(where: { $0.name == "side" }) {
      note("branch side was deleted and is there")
    }
  }

  /// Redoes what was undone: nothing that was taken back by its name.
  private func redo(repository: ChangesetRepository) throws(ChangesetError) {
    guard let reverts = try repository.redo()?.reverts else { return }
    if history.withLock({ $0.reversions.contains(reverts) }) { note("a revert was redone") }
  }

  private func revert(repository: ChangesetRepository) throws(ChangesetError) {
    let log = try repository.log(LogQuery(count: 8))
    guard !log.isEmpty else { return }
    let place = history.withLock { $0.chores.below(log.count) }
    guard let made = try repository.revert(Revision(log[place].id)) else { return }
    history.withLock { _ = $0.reversions.insert(made.id) }
  }

  /// Looks at an old commit, and comes back.
  private func lookBack(repository: ChangesetRepository) throws(ChangesetError) {
    let log = try repository.log(LogQuery(count: 12))
    let branch = try repository.head().branch
    guard let old = log.last else { return }
    try repository.commit()
    _ = try repository.mergeAll()
    try repository.checkout(Revision(old.id))
    if let problem = try repository.verify().problems.first { note("at \(old.id): \(problem)") }
    try repository.switchBranch(branch)
  }

  /// Goes on where a process has ended that looked at an old commit.
  func comeBack(repository: ChangesetRepository) throws(ChangesetError) {
    let branch = try repository.head().branch
    _ = try repository.mergeAll()
    try repository.switchBranch(branch)
  }

  private func restoreConflict(repository: ChangesetRepository) throws(ChangesetError) {
    guard let conflict = try repository.conflicts().first(where: { $0.kind != .question }) else {
      return
    }
    _ = try repository.restoreConflict(conflict)
  }
}
