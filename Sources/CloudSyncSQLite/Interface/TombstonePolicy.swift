/// What becomes of the records of rows that were deleted.
public enum TombstonePolicy: Sendable, Hashable {
  /// They stay in the cloud, so that no device that was away for however long brings a row back.
  case keep
  /// They are deleted from the cloud once they have been there for some time, by the cloud's own dates: when nothing
  /// else is to be sent, by whichever device comes first. A device that has been away for longer, and whose token has
  /// expired meanwhile, deletes such rows all the same, unless it has edited them.
  case purge(after: Duration)
}
