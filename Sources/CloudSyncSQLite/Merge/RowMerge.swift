import CloudSyncCore

/// The merge of a row's two versions with the one that both come from.
///
/// It is a pure function. What one side alone has changed is taken, what both have changed goes to
/// the column's policy, and a column that one side does not know stays as the other has it.
///
/// After a merge the cloud's version is the ancestor, and the merged one is the local version: merging
/// again then changes nothing.
package enum RowMerge {
  /// What becomes of the local row.
  package enum LocalChange: Sendable, Hashable {
    /// There is none before and after.
    case none
    /// It stays; the columns of ``Result/changesForRow`` are written.
    case update
    /// It is inserted; columns that the merged version does not have get their defaults.
    case insert
    /// It was deleted elsewhere and made again: as `delete` and `insert`.
    case replace
    /// It is deleted, and its edits are dropped.
    case delete
  }

  /// What becomes of the record.
  package enum CloudChange: Sendable, Hashable {
    /// It is as it should be: the row is clean.
    case none
    /// The columns of ``Result/changesForCloud`` are sent, and when the row was created and deleted.
    case edit
    /// All columns are sent in a new record, since there is none.
    case create
    /// It is deleted, or, where edits win, saved with the time of its deletion.
    case delete
  }

  /// The outcome of a merge.
  package struct Result: Sendable, Hashable {
    /// The row as it is to be, here and in the cloud.
    package var merged: RowVersion
    package var local: LocalChange
    package var cloud: CloudChange
    /// The columns whose values the local row does not have, sorted by name.
    package var changesForRow: [VersionedColumn]
    /// The columns that the cloud does not have so, sorted by name.
    package var changesForCloud: [VersionedColumn]
    /// The columns that the record must not tell of any more, since they are of a row that has ended.
    package var endedColumns: [String] = []

    /// Whether nothing is left to be sent.
    package var isClean: Bool { cloud == .none }
  }

  /// Merges a row.
  ///
  /// - Parameters:
  ///   - ancestor: The version that the server has acknowledged and the local one was made from.
  ///   - local: What the device has: the columns that were ever set, with their times. A row that it
  ///     has deleted says when; one that it never had is ``RowVersion/missing``. A row that was made
  ///     again, before its deletion was sent or after, says when the one before it was deleted.
  ///   - server: What the cloud has; ``RowVersion/missing`` if it has no record, or none any more.
  ///   - policy: The table's policies.
  /// - Returns: The merged version, and what is to be done here and there.
  package static func merge(
    ancestor: RowVersion?,
    local: RowVersion,
    server: RowVersion,
    policy: TableMergePolicy = TableMergePolicy()
  ) -> Result {
    let lives = Lives(ancestor: ancestor, local: local, server: server, policy: policy.deletes)
    switch (lives.localLives, lives.serverLives) {
    case (true, true):
      return mergeColumns(ancestor, local, server, lives, policy)
    case (true, false):
      return keepLocal(local, server, lives)
    case (false, true):
      return takeServer(local, server, lives)
    case (false, false):
      return delete(local, server, lives)
    }
  }

  private static func keepLocal(_ local: RowVersion, _ server: RowVersion, _ lives: Lives) -> Result
  {
    var merged = local
    lives.mark(&merged)
    if !server.unknownFields.isEmpty { merged.unknownFields = server.unknownFields }
    return Result(
      merged: merged,
      local: .update,
      cloud: server.isMissing ? .create : .edit,
      changesForRow: [],
      changesForCloud: local.columns,
      endedColumns: server.columns(missingFrom: local)
    )
  }

  private static func takeServer(
    _ local: RowVersion,
    _ server: RowVersion,
    _ lives: Lives
  ) -> Result {
    var merged = server
    lives.mark(&merged)
    return Result(
      merged: merged,
      local: local.isDeleted ? .insert : .replace,
      cloud: lives.mustBeSent ? .edit : .none,
      changesForRow: server.columns,
      changesForCloud: []
    )
  }

  private static func delete(_ local: RowVersion, _ server: RowVersion, _ lives: Lives) -> Result {
    var merged = server
    lives.mark(&merged)
    let isMarked = server.isDeleted && (server.isMissing || !lives.mustBeSent)
    return Result(
      merged: merged,
      local: local.isDeleted ? .none : .delete,
      cloud: isMarked ? .none : .delete,
      changesForRow: [],
      changesForCloud: []
    )
  }

  private static func mergeColumns(
    _ ancestor: RowVersion?,
    _ local: RowVersion,
    _ server: RowVersion,
    _ lives: Lives,
    _ policy: TableMergePolicy
  ) -> Result {
    var columns = ColumnOutcomes()
    walk(local.columns, server.columns) { mine, theirs in
      let outcome = ColumnMerge.merge(
        ancestor: (mine ?? theirs).flatMap { ancestor?[$0.name] },
        local: mine,
        server: theirs,
        policy: policy
      )
      if let outcome { columns.append(mine, theirs, outcome) }
    }
    columns.unite(policy.groups)
    let merges = columns.outcomes.map(\.merge)
    let merged = merges.map(\.merged)
    let forRow = merges.filter(\.writesRow).map(\.merged)
    let forCloud = merges.filter(\.sends).map(\.merged)
    var version = RowVersion(columns: merged, unknownFields: server.unknownFields)
    lives.mark(&version)
    let isClean = forCloud.isEmpty && !lives.mustBeSent
    return Result(
      merged: version,
      local: .update,
      cloud: server.isMissing ? .create : isClean ? .none : .edit,
      changesForRow: forRow,
      changesForCloud: server.isMissing ? merged : forCloud
    )
  }

  /// Goes through two sorted lists of columns, pairing those of one name.
  private static func walk(
    _ lhs: [VersionedColumn],
    _ rhs: [VersionedColumn],
    _ visit: (VersionedColumn?, VersionedColumn?) -> Void
  ) {
    var (left, right) = (0, 0)
    while left < lhs.count || right < rhs.count {
      let order =
        left == lhs.count
        ? 1 : right == rhs.count ? -1 : UTF8Bytes.order(lhs[left].name, rhs[right].name)
      visit(order <= 0 ? lhs[left] : nil, order >= 0 ? rhs[right] : nil)
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
  }
}
