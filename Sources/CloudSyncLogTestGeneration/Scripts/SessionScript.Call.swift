public import CloudSyncCore

extension SessionScript {
  /// A call of the app, or something else that happens to a session by itself.
  public enum Call: Sendable, Hashable {
    /// `start()`.
    case start
    /// `stop()`.
    case stop
    /// `reset()`.
    case reset
    /// `modify(_:)`; the number is what ``cancel(_:)`` calls the operation by.
    case modify(ModifyOperation, as: UInt64? = nil)
    /// `fetch(_:)`; the number is what ``cancel(_:)`` calls the operation by.
    case fetch(FetchOperation = FetchOperation(), as: UInt64? = nil)
    /// `cancel(_:)` of the operation that was submitted under a number.
    ///
    /// If none was, it is the operation of a restored session whose ID has that number.
    case cancel(UInt64)
    /// `retryNow()`.
    case retryNow
    /// `connectivityChanged()`.
    case connectivityChanged
    /// `retryParked(_:)`; nil for all.
    case retryParked([RecordID]? = nil)
    /// `dropParked(_:)`; nil for all.
    case dropParked([RecordID]? = nil)
    /// `acknowledge(_:_:)`.
    case acknowledge(PageID, PageAnswer)
    /// `appendMiddleware(_:)` with an `AccountStatusMiddleware`; once at most.
    case attachAccountProvider
    /// `accountDidChange()`.
    case accountDidChange
    /// `resolveAccountSwitch(_:)`.
    case resolveAccountSwitch(AccountSwitchDecision)
    /// `decideZone(_:)`.
    case decideZone(ZoneDecision)
    /// Another session that shares the gate was told to wait.
    case closeGate(Wait)
  }
}
