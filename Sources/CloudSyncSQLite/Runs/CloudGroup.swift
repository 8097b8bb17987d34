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

  /// Whether the cloud has shown that it has the zone.
  var tellsOfZone: Bool {
    items.contains { item in
      switch item {
      case .page: true
      case .answer(_, _, let response): response.hasSaves
      }
    }
  }

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
        if response.hasMissing { try facts.set(.absences, to: .integer(try absences() + 1)) }
      }
    }
    try PageApplier(transaction: self).take(pages)
    try finish()
    // What follows from the end of a fetch is done.
    (isFetchComplete, hasAnswers) = (false, false)
  }
}

extension ModifyOperation.Response {
  /// Whether the cloud has any record of the operation.
  fileprivate var hasSaves: Bool { !savedRecords.isEmpty || !alreadyInCloud.isEmpty }
  /// Whether a fetch has to tell what became of something.
  var hasMissing: Bool {
    failures.contains {
      [.unknownItem, .outcomeUnknown, .quotaExceeded].contains($0.error.code)
    }
  }
}
