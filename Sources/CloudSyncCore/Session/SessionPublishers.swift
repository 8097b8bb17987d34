/// Everything that a session publishes.
struct SessionPublishers: Sendable {
  let state = SyncSubject<SyncState>(replaysLast: true)
  let events = SyncSubject<EventRecord>()
  let fetchedPages = SyncSubject<(FetchOperation, FetchOperation.Response)>()
  let modifyCompleted = SyncSubject<(ModifyOperation, ModifyOperation.Response)>()
  let failed = SyncSubject<(SyncWork, SyncError)>()
  let halted = SyncSubject<SyncError?>(replaysLast: true)
  let accountStatus = SyncSubject<AccountStatus>(replaysLast: true)
  let zone = SyncSubject<ZoneState>(replaysLast: true)
  let progress = SyncSubject<SyncProgress>(replaysLast: true)
  let parked = SyncSubject<ParkedChange>()
}
