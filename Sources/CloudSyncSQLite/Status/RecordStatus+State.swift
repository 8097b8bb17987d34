import CloudSyncSQLiteSupport

extension RecordStatus {
  /// What is known of a row.
  init(_ state: RecordState, isOnItsWay: Bool) {
    switch (state.placement, state.hold) {
    case (.violates(let code, let reason), _):
      self = .parked(code: Int(clamping: code), reason: reason)
    case (.heldBy(_, let reason), _):
      self = .parked(code: Int(clamping: SQLiteError.unique), reason: reason)
    case (.inTable, _) where state.filtering != nil && state.isDirty,
      (.deletionDeferred, _) where state.filtering != nil && state.isDirty:
      self = .local
    case (_, .refusal(let refusal)):
      self = .parked(code: Int(clamping: refusal.code), reason: refusal.reason)
    case (.awaitsParent(let name), _): self = .waiting(recordName: name)
    case (.inTable, _), (.deletionDeferred, _):
      self = isOnItsWay ? .inFlight : state.isDirty ? .dirty : .clean
    }
  }
}
