import CloudSyncCore

extension ChangesetRemote {
  /// Lets the history in the cloud begin with one state, and removes what was before it there.
  ///
  /// New copies get that state and the commits after it, instead of everything that ever was. It begins with a
  /// commit that is before all that any replica has made lately, at least `depth` commits before HEAD. First a snapshot
  /// of its rows goes up; when every replica that has committed in the last 90 days has seen it, with its next sync,
  /// a further call removes the older commits from the cloud. Copies that have them keep them, until
  /// ``ChangesetRepository/gc(depth:includingUnsent:)``.
  ///
  /// A replica that was silent for longer, and goes on from older commits, is told so with
  /// ``ChangesetError/Code/behindHorizon``; ``rebase()`` loses nothing of what was done there.
  ///
  /// - Parameter depth: How many commits before HEAD stay at least.
  /// - Returns: How far it has come.
  /// - Throws: Why the cloud did not do it; the next call goes on with it.
  @discardableResult
  public func squash(depth: Int = 1_000) async throws(ChangesetError) -> SquashSummary {
    try await squash(depth: depth, patience: SquashPlan.usualPatience)
  }

  /// Does it without waiting for replicas that have not committed for so many milliseconds.
  package func squash(
    depth: Int,
    patience: Int64
  ) async throws(ChangesetError) -> SquashSummary {
    guard depth >= 0 else {
      throw ChangesetError(.misuse, "a history cannot be squashed to \(depth) commits")
    }
    try await fetch()
    try await push()
    var summary = SquashSummary()
    while true {
      let step = try repository.read { (work) throws(ChangesetError) in
        try SquashPlan(work: work, patience: patience).next(depth: depth)
      }
      switch step {
      case .snapshot(let row):
        let snapshot = try await fetchingWhatWasRemoved { () throws(ChangesetError) in
          try repository.read { (work) throws(ChangesetError) in
            try SnapshotMaking(work: work).snapshot(of: row)
          }
        }
        try await Pushing(remote: self).send(snapshot: snapshot)
        continue
      case .finish(let row):
        try repository.write { (work) throws(ChangesetError) in
          try HorizonAdoption(work: work).take(row: row)
        }
        // Others hear of it before anything is gone.
        try await push()
        continue
      case .wait(let row, let replicas):
        summary.next = try changeset(row: row)
        summary.waitingFor = replicas
      case .nothing: break
      }
      break
    }
    summary.beginning = try repository.read { (work) throws(ChangesetError) in
      try Horizon(work.connection)
        .map { (horizon) throws(ChangesetError) in
          try work.changeset(row: horizon.row)
        }
    }
    if summary.beginning != nil { summary.removedRecords = try await removeWhatIsBefore() }
    return summary
  }

  /// Puts what this copy has changed since before a squash on top of the history as the others have it.
  ///
  /// What is uncommitted is committed first. The commits of this copy stay in its log; what they changed is in new
  /// ones, merged as the policies of the tables say, and what lost is in ``ChangesetRepository/conflicts()``. The next
  /// sync sends them. Where nothing is behind, nothing happens.
  ///
  /// - Returns: The commits that were made.
  /// - Throws: That a branch has heads which wait for answers, with ``ChangesetError/Code/needsUpgrade`` that the history
  ///   begins with tables or columns which this app lacks, or why the cloud could not be reached.
  @discardableResult
  public func rebase() async throws(ChangesetError) -> [Changeset] {
    try await fetch()
    if try repository.standing() == .current { return [] }
    if try repository.head().isDetached == false { try repository.commit() }
    return try await fetchingWhatWasRemoved { () throws(ChangesetError) in
      try repository.rebase()
    }
  }

  /// Fetches, and puts commits of others that go on from before a squash on top of the history, for those who do not come
  /// back; see ``ChangesetRepository/rebaseOthers(branch:)``.
  ///
  /// What is uncommitted is committed first. The next sync sends the result.
  ///
  /// - Parameter branch: Whose commits; nil for those of all branches.
  /// - Returns: The commits that were made.
  /// - Throws: The same, or why the cloud could not be reached.
  @discardableResult
  public func rebaseOthers(branch: String? = nil) async throws(ChangesetError) -> [Changeset] {
    try await fetch()
    if try repository.head().isDetached == false { try repository.commit() }
    return try await fetchingWhatWasRemoved { () throws(ChangesetError) in
      try repository.rebaseOthers(branch: branch)
    }
  }

  private func changeset(row: LogRow) throws(ChangesetError) -> Changeset {
    try repository.read { (work) throws(ChangesetError) in try work.changeset(row: row) }
  }

  /// Deletes packs of which nothing is needed, and snapshots that are not the history's beginning.
  private func removeWhatIsBefore() async throws(ChangesetError) -> Int {
    try RemoteState.forgetToken(in: repository, bringingBack: false)
    pages.beginListing()
    try await fetch()
    let contents = pages.endListing()
    let names = try repository.read { (work) throws(ChangesetError) -> [String] in
      guard let horizon = try Horizon(work.connection)?.row else { return [] }
      let zone = ZoneReports(connection: work.connection)
      // Without a snapshot nobody could begin.
      guard try zone.snapshots().contains(where: { $0.place.id == horizon.id }) else { return [] }
      let place = ReplicaReport.Place(id: horizon.id, generation: horizon.generation)
      let snapshots = try zone.snapshots().filter { $0.place.precedes(place) }.map(\.name)
      let below = try SnapshotMaking(work: work).beginnings(before: horizon)
      let packs = contents.filter { _, ids in
        !ids.isEmpty && ids.allSatisfy { below.contains($0.beginning) }
      }
      return packs.keys.sorted() + snapshots.sorted()
    }
    if names.isEmpty { return 0 }
    // The words about tags and branches that are in these packs go up once more.
    try repository.write { (work) throws(ChangesetError) in
      try work.connection.run("UPDATE changesets_tags SET remote = 0")
    }
    try await push()
    try await Pushing(remote: self).delete(names: names)
    return names.count
  }
}

/// How far a squash has come.
public struct SquashSummary: Sendable, Hashable {
  /// The commit that the history in the cloud begins with; nil if it has everything.
  public internal(set) var beginning: Changeset?
  /// How many records were removed from the cloud.
  public internal(set) var removedRecords = 0
  /// The commit whose snapshot is in the cloud, and that the history will begin with; nil if none is to come.
  public internal(set) var next: Changeset?
  /// The replicas that have to sync before, by their names.
  public internal(set) var waitingFor: [String] = []
}
