/// A known mistake of the machine of rows, to show that the checkers of a simulation find it.
enum RowMutant: String, Sendable, CaseIterable {
  // MARK: Edits of the table

  /// An update is not taken.
  case forgetsUpdates
  /// A deletion is not taken.
  case forgetsDeletions
  /// A row that is made again is as old as the one before.
  case insertsLate
  /// An update has a time that nobody knows.
  case updatesWithoutTime
  /// A deletion is no later than the row.
  case deletesWithoutTime
  /// What a counter held before is not looked at.
  case countsFromNothing
  /// What was found in the table is taken for the last edit.
  case findsAsEdit
  /// A row that is found is not taken.
  case forgetsFoundRows
  /// What settles a conflict is not taken.
  case forgetsSettlements
  /// A row that has to come back does not.
  case forgetsRestorations
  /// What others have edited of a row under its former key is not taken.
  case forgetsHandOvers
  /// A row that gets another key is as new as that.
  case movesAsNew
  /// A row that was given its key passes for one that was inserted with it.
  case forgetsWhichRow
  /// All rows that were given keys pass for the same one.
  case mixesUpRows
  /// The deletion of a row that was given its key ends whatever row has that key elsewhere.
  case endsWhoeverIsThere
  /// What a row was made from is forgotten.
  case forgetsAncestors

  // MARK: What the cloud has

  /// What the cloud has is not looked at while the row is dirty.
  case ignoresCloud
  /// What the cloud has replaces a dirty row.
  case givesInToCloud
  /// Of two versions the cloud's columns are taken, whenever they were set.
  case prefersCloud
  /// Of two versions one's own columns are taken, whenever they were set.
  case prefersLocal
  /// A conflict tells nothing.
  case ignoresConflicts
  /// A conflict's tag is taken, and its record is not.
  case takesTagOnly
  /// A row is not written after it has come.
  case forgetsWriting
  /// Where deletions win edits do, and the other way round.
  case mixesPolicies
  /// A tombstone that comes is not taken.
  case ignoresTombstones
  /// A record that comes is not taken if it was seen to be deleted.
  case ignoresNewLives

  // MARK: Answers

  /// A save is not heard of.
  case forgetsSaves
  /// A save counts for edits that were made since.
  case believesLaterSaves
  /// A refusal counts as a save.
  case believesRefusals
  /// A refusal in passing is for ever.
  case neverRetries
  /// That a record is missing is taken for its absence.
  case believesMissing
  /// That a record is missing is not heard of.
  case ignoresMissing

  // MARK: The feed

  /// Absence is not heard of.
  case ignoresAbsence
  /// Absence takes edits and newer rows along.
  case absenceTakesAll
  /// The end of a fetch is not heard of.
  case ignoresEndOfFetch
  /// That the zone is another one is not heard of.
  case ignoresNewZone
  /// Tombstones are forgotten with their zone.
  case forgetsTombstones

  // MARK: The rest

  /// A copy goes on counting under the number of its original.
  case keepsNumber
  /// Columns that are new are not sent.
  case forgetsNewColumns
  /// A row that waits for its parent is taken for one that is in its table.
  case forgetsWaiting
  /// A row whose deletion is put off is taken for one that is gone.
  case forgetsDeferral

  /// Those that a test of every day tries.
  static let usual: [RowMutant] = [
    .forgetsUpdates, .givesInToCloud, .prefersLocal, .believesLaterSaves, .countsFromNothing,
  ]
}
