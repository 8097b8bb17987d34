public import CloudSyncCore

extension SyncEngine {
  // MARK: Account

  /// Says that the account may have changed: nothing is sent before its provider has answered.
  public func accountDidChange() { session?.accountDidChange() }

  /// Answers ``SyncQuestion/accountSwitched(from:to:)``.
  ///
  /// Without such a question it changes nothing.
  ///
  /// - Parameter decision: `discard` deletes the rows of the old account here and fetches the new one's;
  ///   edits that were not sent are lost. `adopt` merges all rows with the new account's, and uploads
  ///   them. `wait` leaves the question open: when the old account is back, all goes on.
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func resolveAccountSwitch(_ decision: AccountSwitchDecision) throws(SyncEngineError) {
    try control.resolveAccountSwitch(decision)
  }

  // MARK: Zone

  /// Answers ``SyncQuestion/zoneLost(_:)``.
  ///
  /// Without such a question it changes nothing.
  ///
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func decideZone(_ decision: ZoneLossDecision) throws(SyncEngineError) {
    try control.decideZone(decision)
  }

  /// What the app has to answer; nil if nothing.
  public var question: SyncQuestion? { control.run?.question }
}
