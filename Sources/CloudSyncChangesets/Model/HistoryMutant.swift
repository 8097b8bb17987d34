/// A known mistake of the machine of histories: tests put it in, to show that the checkers of a simulation find it.
///
/// It is of debug builds, and of the task that has set it; a release has none.
package enum HistoryMutant: String, Sendable, CaseIterable {
  // MARK: Merges

  /// Which value counts depends on who merges.
  case winnerByReplica
  /// Two replicas that make one merge make two commits.
  case randomMergeIDs
  /// Of several bases the first alone is taken.
  case oneBase
  /// Each base is merged over the common ancestors of it and the first alone.
  case baseOfPair
  /// Which side is the first parent depends on who merges.
  case unsortedParents
  /// What a merge writes is as new as the merge.
  case ownTime
  /// Rows are put into their tables in no order.
  case unsortedSettlement
  /// What two replicas have rebased is in no base.
  case countedTwice
  /// What others wrote beside a commit is taken back with it.
  case undoneWithOthers

  /// What a migration has only renamed is another column.
  case unseenRename
  /// What a migration makes anew where another one's was taken back counts as an edit.
  case recomputedIsEdited

  // MARK: Applying

  /// Rows are checked while triggers of the app run.
  case checkedLate

  /// What a table has made of a value counts as what the history says.
  case convertedForgotten
  /// A default is the constant that a column's type makes of it.
  case typedDefault

  // MARK: Capture

  /// Rows that `OR REPLACE` removes are not seen.
  case unseenReplace
  /// A row is kept each time that it is touched, instead of the first time.
  case unguarded

  // MARK: Exchange

  /// The token is stored before what it stands for.
  case tokenBeforeRows
  /// Commits count as sent before the cloud has them.
  case watermarkFirst
  /// A fetch that begins anew says nothing of what the zone lacks.
  case trustedZone
  /// After its zone is gone the cloud counts as having what it had.
  case forgottenZone

  #if DEBUG
  @TaskLocal package static var present: HistoryMutant?
  #endif

  /// Whether this mistake is made now.
  var isPresent: Bool {
    #if DEBUG
    Self.present == self
    #else
    false
    #endif
  }
}
