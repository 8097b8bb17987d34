import CloudSyncCore
import CloudSyncSQLiteSupport

/// What has come from the cloud and is not stored yet: pages and answers, in their order.
///
/// They are stored together, since a transaction costs more than a row. A page is acknowledged when it joins, so
/// that the next one is fetched meanwhile; its token is stored with its rows. Whoever writes to the database
/// stores them first. If the engine ends before, pages are fetched again, and what was answered is sent again.
struct CloudGroup: Sendable {
  enum Item: Sendable {
    case page(FetchedPage)
    /// What became of an operation, by its number, with what it carried.
    case answer(Int64, SentBatch, ModifyOperation.Response)
  }

  private(set) var items: [Item] = []
  /// How many records they tell of.
  private(set) var count = 0

  /// How many records are gathered, and for how long, in nanoseconds.
  static let size = 5_000
  static let time: Int64 = 50_000_000

  var isEmpty: Bool { items.isEmpty }
  var answerCount: Int { items.count { if case .answer = $0 { true } else { false } } }

  mutating func append(_ item: Item) {
    items.append(item)
    count += item.count
  }

  /// Removes what was stored: it had come first.
  mutating func remove(_ stored: CloudGroup) {
    items.removeFirst(min(stored.items.count, items.count))
    count = items.reduce(0) { $0 + $1.count }
  }
}

extension CloudGroup.Item {
  fileprivate var count: Int {
    switch self {
    case .page(let page): page.response.changedRecords.count + page.response.deletedRecords.count
    case .answer(_, let batch, _): batch.count
    }
  }
}

extension SyncTransaction {
  /// Stores what has come from the cloud, in its order.
  func store(_ group: CloudGroup) throws(SQLiteError) {
    if group.isEmpty { return }
    var pages: [FetchedPage] = []
    for item in group.items {
      switch item {
      case .page(let page): pages.append(page)
      case .answer(_, let batch, let response):
        try PageApplier(transaction: self).take(pages)
        pages = []
        sentZone = batch.zone
        try SentAnswers(transaction: self).take(response, to: batch)
        if response.hasMissing { try facts.set(.absences, .integer(try absences() + 1)) }
      }
    }
    try PageApplier(transaction: self).take(pages)
    try finish()
    // What follows from the end of a fetch is done.
    (isFetchComplete, hasAnswers) = (false, false)
  }
}

extension SyncEngine {
  /// Has a page or an answer wait for others, and stores them if nothing more is on its way.
  func join(_ item: CloudGroup.Item, _ generation: Int) {
    let isFirst = state.withLock { state in
      defer { state.join(item) }
      return state.group.isEmpty
    }
    if case .page(let page) = item { session?.acknowledge(page.response.page, .stored) }
    let isDue = state.withLock { state in
      state.group.count >= CloudGroup.size || !state.expectsMore
    }
    if isDue { return store(generation) }
    if isFirst { groupTimer?.schedule(after: CloudGroup.time) }
  }

  /// Stores what has waited long enough.
  func storeGroup() {
    guard let (_, generation) = running, state.withLock({ !$0.group.isEmpty }) else { return }
    store(generation)
  }

  /// Stores what has come, and sends what follows from it.
  func store(_ generation: Int) {
    take(generation) { (engine) throws(SyncEngineError) in try engine.feed(generation) }
  }

  /// Notes what follows from a group that is stored.
  func note(_ stored: CloudGroup) {
    if stored.isEmpty { return }
    let isFetchDue = state.withLock { state in
      stored.items.reduce(false) { state.take($1) || $0 }
    }
    let next = state.withLock { state in
      defer { state.nextFetch = nil }
      return state.nextFetch
    }
    if let next, let (session, generation) = running {
      fetch(next, session, generation)
    } else if isFetchDue {
      fetchChanges()
    }
    sendChanges()
  }
}

extension SyncEngine.State {
  fileprivate mutating func join(_ item: CloudGroup.Item) {
    group.append(item)
    if case .page(let page) = item { isPageDue = !page.response.isLast }
  }

  /// Whether a page or an answer is on its way that is not in the group.
  fileprivate var expectsMore: Bool {
    isPageDue && fetches > 0 || group.answerCount < inFlight.count
  }

  /// Takes that an item is stored; returns whether a fetch is due.
  fileprivate mutating func take(_ item: CloudGroup.Item) -> Bool {
    switch item {
    case .page(let page):
      zoneLosses = 0
      isFetchDue = false
      if page.response.isLast { isZoneRecordRefused = false }
      return false
    case .answer(let number, let batch, let response):
      inFlight[number] = nil
      if response.hasSaves { zoneLosses = 0 }
      let failures = response.failures
      if batch.zone != nil, failures.contains(where: { $0.error.code != .awaitsAppEdit }) {
        isZoneRecordRefused = true
      }
      defer { isFetchDue = false }
      return isFetchDue && (response.hasMissing || fetches == 0)
    }
  }
}

extension ModifyOperation.Response {
  /// Whether the cloud has any record of the operation.
  fileprivate var hasSaves: Bool { !savedRecords.isEmpty || !alreadyInCloud.isEmpty }
  /// Whether a fetch has to tell what became of something.
  fileprivate var hasMissing: Bool {
    failures.contains {
      [.unknownItem, .outcomeUnknown, .quotaExceeded].contains($0.error.code)
    }
  }
}
