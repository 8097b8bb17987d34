import CloudSyncCore

/// A cloud of records with tags: a save that was made from another tag is a conflict.
struct ExchangeCloud {
  /// A token is good in the zone's incarnation that gave it.
  struct Token: Equatable {
    var zone: Int
    var place: Int
    /// When it was given: what was given before a purge of the log is good no more.
    var given: Int
  }

  struct Page {
    var records: [Record]
    var deleted: [RecordID]
    var token: Token
  }

  enum Answer {
    case saved(Record)
    case conflict(Record)
    case unknownItem
  }

  /// The zone's incarnation.
  private(set) var zone = 1
  private(set) var records: [String: Record] = [:]
  private var log: [(place: Int, recordID: RecordID)] = []
  private var oldestToken = 0
  private var lastTag = 0

  /// Whether a token tells of everything.
  func isNewest(_ token: Token?) -> Bool {
    token?.zone == zone && token?.place == log.last?.place ?? 0
  }

  mutating func save(_ record: Record) -> Answer {
    let name = record.recordID.name
    if let present = records[name] {
      if present.changeTag != record.changeTag { return .conflict(present) }
    } else if record.changeTag != nil {
      return .unknownItem
    }
    lastTag += 1
    let saved = (records[name]?.applying(record) ?? record).withChangeTag("\(lastTag)")
    records[name] = saved
    log.append((lastTag, record.recordID))
    return .saved(saved)
  }

  /// Somebody removes a record, at the dashboard say.
  mutating func remove(_ name: String) {
    guard let record = records.removeValue(forKey: name) else { return }
    lastTag += 1
    log.append((lastTag, record.recordID))
  }

  mutating func expireTokens() { oldestToken = lastTag }

  /// The zone is lost, and made again by whoever comes first.
  mutating func loseZone() {
    zone += 1
    (records, log, oldestToken) = ([:], [], 0)
  }

  /// What has changed; nil if the token is good no more.
  func page(after token: Token?, limit: Int) -> Page? {
    if let token, token.zone != zone || token.given < oldestToken { return nil }
    var last: [RecordID: Int] = [:]
    for (place, recordID) in log { last[recordID] = place }
    let news = last.filter { $0.value > token?.place ?? 0 }.sorted { $0.value < $1.value }
      .prefix(limit)
    let place = news.last?.value ?? token?.place ?? 0
    let next = Token(zone: zone, place: place, given: lastTag)
    var page = Page(records: [], deleted: [], token: next)
    for (recordID, _) in news {
      if let record = records[recordID.name] {
        page.records.append(record)
      } else {
        page.deleted.append(recordID)
      }
    }
    return page
  }
}
