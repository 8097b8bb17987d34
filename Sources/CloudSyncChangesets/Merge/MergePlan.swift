package import CloudSyncSQLite
package import CloudSyncSQLiteSupport

/// A merge of two commits, ready to be committed unless questions are open or constraints have to be settled.
package struct MergePlan: Sendable {
  /// A value that a policy or a handler has made.
  package struct ComputedValue: Sendable, Hashable {
    package var table: String
    package var column: String
    package var value: SQLiteValue
  }

  /// The commit with the smaller identifier, and the other.
  package var ours: ChangesetID
  package var theirs: ChangesetID
  /// The side with more changed cells, which the changes are against, and the other.
  package var parents: [ChangesetID]
  package var generation: Int64
  /// The later of the parents'.
  package var time: HybridTime
  /// Against the first parent.
  package var changes: StateDelta
  package var conflicts: [MergeConflict]
  /// What no answer has been given to yet: with any there is no merge.
  package var questions: [ContestedRow]

  /// What became of the base at the first parent and at the second.
  package var firstNet: StateDelta
  package var secondNet: StateDelta
  /// The rows that both have changed, by table.
  package var sharedRows: [String: Set<RowKey>]
  /// The values that neither side has had.
  package var computed: [ComputedValue]
  /// How constraints are settled.
  package var rules: MergeRules

  /// The commit.
  ///
  /// - Parameters:
  ///   - branch: The branch that it is on.
  ///   - schema: The schema of its state.
  ///   - stateHash: The hash of its state.
  /// - Returns: The same for the same parents on every replica.
  package func commit(branch: String, schema: SchemaID, stateHash: StateHash) -> Commit {
    let header = CommitHeader(
      kind: .merge,
      schema: schema,
      parents: parents,
      generation: generation,
      time: time,
      branch: branch,
      stateHash: stateHash
    )
    return Commit(header: header, changes: changes, conflicts: conflicts)
  }
}
