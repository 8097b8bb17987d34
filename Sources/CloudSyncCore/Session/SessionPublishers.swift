/// Everything that a session publishes.
struct SessionPublishers: Sendable {
  /// Keeps the state for other threads too.
  let state: SyncSubject<SyncState>
  let events = SyncSubject<EventRecord>()
  let fetchedPages = SyncSubject<(FetchOperation, FetchOperation.Response)>()
  let modifyCompleted = SyncSubject<(ModifyOperation, ModifyOperation.Response)>()
  let failed = SyncSubject<(SyncWork, SyncError)>()
  let halted = SyncSubject<SyncError?>(replaysLast: true)
  let accountStatus = SyncSubject<AccountStatus>(replaysLast: true)
  let zone = SyncSubject<ZoneState>(replaysLast: true)
  let progress = SyncSubject<SyncProgress>(replaysLast: true)
  let parked = SyncSubject<ParkedChange>()
  let cloudChanges = SyncSubject<CloudChange>()

  init(state first: SyncState) {
    state = SyncSubject(replaysLast: true)
    state.keep(first)
  }
}
