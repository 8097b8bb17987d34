import CloudSyncCore

extension ChangesetRemote {
  /// Runs a body, and if it needs changes that were removed from this copy, once more with them.
  func fetchingWhatWasRemoved<Value: Sendable>(
    _ body: () throws(ChangesetError) -> Value
  ) async throws(ChangesetError) -> Value {
    do throws(ChangesetError) { return try body() } catch {
      guard error.code == .historyTooShort else { throw error }
    }
    try resetLastChangeToken()
    _ = try await fetch()
    return try body()
  }

  /// Fetches what the zone holds, deletes it, and sends all commits again.
  ///
  /// Records that hold what is not in this history stay: such as others' commits that cannot be read here, or
  /// wait for one before them. After a failure the next push goes on with it.
  ///
  /// - Throws: Why the cloud did not do it.
  public func reset() async throws(ChangesetError) {
    try await accounts.begin()
    calls.end(trouble: .zone)
    session.decideZone(.recreate)
    try resetLastChangeToken()
    _ = try await fetch()
    let names = pages.storedRecords()
    // Were it noted afterwards, nobody would send again what a process deletes that ends between.
    pages.forgetCloud()
    try await Pushing(remote: self).delete(names: names)
    try await push()
  }

  /// Gives the history to the account that is signed in now: all of its commits go there.
  ///
  /// The other account's cloud keeps what it has.
  ///
  /// - Throws: That no other account has signed in.
  public func adopt() throws(ChangesetError) { try accounts.adopt() }

  /// Has the next fetch bring everything that the zone holds.
  ///
  /// - Throws: What is wrong with the database.
  public func resetLastChangeToken() throws(ChangesetError) {
    try RemoteState.forgetToken(in: repository)
  }
}

extension ChangesetRepository {
  /// Takes the history out of its zone: the next ``ChangesetRemote`` may be one of another zone or another cloud,
  /// which gets all commits.
  ///
  /// It is also the way on where a cloud has lost all that it knew. What the former zone holds stays there. No remote of
  /// this history may be at work meanwhile.
  ///
  /// - Throws: What is wrong with the database.
  public func leaveCloud() throws(ChangesetError) { try RemoteState.leave(in: self) }

  /// Whether the present branch has a head that the rows can be taken to, after a merge or a fetch.
  package func hasNewerHead() throws(ChangesetError) -> Bool {
    try read { (work) throws(ChangesetError) in
      let position = try work.heads.position()
      for head in try work.heads.heads(ofBranch: position.branch) where head.seq != position.seq {
        if try work.log.isAncestor(ancestor: position.seq, of: head.seq) { return true }
      }
      return false
    }
  }

  /// Why a head of the present branch can be neither merged nor gone to; nil if none is of a newer app.
  package func unreadableHead() throws(ChangesetError) -> ChangesetError? {
    try read { (work) throws(ChangesetError) in
      let branch = try work.heads.position().branch
      for head in try work.heads.heads(ofBranch: branch) {
        let row = try work.log.row(head.seq)
        let schema = try work.dictionaries.schema(number: row.schema)
        do throws(ChangesetError) {
          try SchemaComparison(mine: work.tables.description, theirs: schema)
            .checkReadable(id: row.id)
        } catch { return error }
      }
      return nil
    }
  }
}
