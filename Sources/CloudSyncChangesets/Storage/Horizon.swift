/// The commit that a squashed history begins with for everybody: what does not go on from it reaches nobody.
struct Horizon {
  let row: LogRow

  /// The horizon of a history; nil if it was never squashed.
  init?(_ connection: HistoryConnection) throws(ChangesetError) {
    guard let seq = try Info(connection).integer(.squashed) else { return nil }
    row = try CommitLog(connection: connection).row(seq)
  }

  /// Whether a commit is the horizon, or goes on from it.
  func includes(_ other: LogRow) -> Bool {
    other.seq == row.seq || other.generation > row.generation && !other.isBeside
  }

  /// Whether a commit with these parents goes on from it.
  func includes(childOf parents: [LogRow]) -> Bool {
    !parents.isEmpty && parents.allSatisfy { includes($0) }
  }
}
