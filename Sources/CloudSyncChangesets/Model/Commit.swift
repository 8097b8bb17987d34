package import CloudSyncSQLite

/// What a commit says of itself, without its changes.
package struct CommitHeader: Sendable, Hashable {
  package enum Kind: UInt8, Sendable, Hashable {
    /// Rows that an app has edited.
    case edit = 1
    /// Two commits put together.
    case merge = 2
    /// What an app's migration made of the rows.
    case migration = 3
  }

  package var kind: Kind
  /// The schema of the state that it leads to.
  package var schema: SchemaID
  /// At most two; the changes are those against the first, or against the empty database.
  package var parents: [ChangesetID]
  /// One more than the largest of its parents', 1 without parents.
  package var generation: Int64
  /// Later than the parents' times for an edit; the latest of the parents' for the others.
  package var time: HybridTime
  /// Who made an edit; empty for merges and migrations, which several replicas make alike.
  package var replica: String
  package var branch: String
  /// The commit that this one takes back.
  package var reverts: ChangesetID?
  /// The commits from before a squash that this one puts on top of it, in order; an edit that has any takes nothing back.
  package var originals: [ChangesetID]
  package var meta: String
  /// Of the state that it leads to.
  package var stateHash: StateHash

  package init(
    kind: Kind,
    schema: SchemaID,
    parents: [ChangesetID],
    generation: Int64,
    time: HybridTime,
    replica: String = "",
    branch: String,
    reverts: ChangesetID? = nil,
    originals: [ChangesetID] = [],
    meta: String = "{}",
    stateHash: StateHash
  ) {
    self.kind = kind
    self.schema = schema
    self.parents = parents
    self.generation = generation
    self.time = time
    self.replica = replica
    self.branch = branch
    self.reverts = reverts
    self.originals = originals
    self.meta = meta
    self.stateHash = stateHash
  }

  /// Whether its cells have times of their own, those of the commits that wrote them, instead of its own.
  var keepsTimes: Bool { kind == .merge || !originals.isEmpty }
}

/// A commit: what it says of itself, its changes against its first parent, and what its merge decided.
package struct Commit: Sendable, Hashable {
  package var header: CommitHeader
  package var changes: StateDelta
  /// In the order of ``MergeConflict``; only merges have any, and edits that take a commit back or were put on others'.
  package var conflicts: [MergeConflict]

  package init(header: CommitHeader, changes: StateDelta, conflicts: [MergeConflict] = []) {
    self.header = header
    self.changes = changes
    self.conflicts = conflicts
  }
}
