extension Model {
  /// A token is good in the zone's incarnation that gave it.
  struct Token: Hashable {
    var zone: Int
    var place: Int
  }

  struct Item {
    var key: Int
    var state: RowState
    var tag: Int?
    var base: RowState?
  }

  enum ItemAnswer {
    case saved(Int)
    case conflict(Int, RowState)
    case unknownItem
  }

  struct Page {
    var changed: [(key: Int, tag: Int, state: RowState)] = []
    var deleted: [Int] = []
    var token: Token
    /// Whether it is of a fetch of everything, and begins it.
    var isWhole: Bool
  }

  enum Answer {
    case zoneNotFound
    case zoneCreated
    case tokenExpired
    case modified([(item: Item, answer: ItemAnswer)])
    case deleted([Int])
    case page(Page)
  }

  struct Cloud {
    /// The zone's incarnation; 0: there is none.
    private(set) var zone = 0
    private var nextZone = 1
    private(set) var tag = 0
    private(set) var records: [Int: (tag: Int, state: RowState)] = [:]
    private(set) var log: [(tag: Int, key: Int)] = []
    private var oldestToken = 0

    mutating func createZone() -> Answer {
      if zone == 0 { (zone, nextZone) = (nextZone, nextZone + 1) }
      return .zoneCreated
    }

    mutating func loseZone() { (zone, records, log, oldestToken) = (0, [:], [], 0) }

    mutating func expireTokens() { oldestToken = tag }

    mutating func save(_ items: [Item]) -> Answer {
      if zone == 0 { return .zoneNotFound }
      return .modified(items.map { ($0, save($0)) })
    }

    private mutating func save(_ item: Item) -> ItemAnswer {
      let present = records[item.key]
      if let present {
        guard present.tag == item.tag else { return .conflict(present.tag, present.state) }
      } else if item.tag != nil {
        return .unknownItem
      }
      tag += 1
      let state = present.map { item.state.saved(over: $0.state, from: item.base) } ?? item.state
      records[item.key] = (tag, state)
      log.append((tag, item.key))
      return .saved(tag)
    }

    /// Deletions know no tags: they always succeed.
    mutating func delete(_ keys: [Int]) -> Answer {
      if zone == 0 { return .zoneNotFound }
      for key in keys where records[key] != nil {
        tag += 1
        records[key] = nil
        log.append((tag, key))
      }
      return .deleted(keys)
    }

    func page(after token: Token?, limit: Int) -> Answer {
      if zone == 0 { return .zoneNotFound }
      if let token, token.zone != zone || token.place < oldestToken { return .tokenExpired }
      var last: [Int: Int] = [:]
      for (tag, key) in log { last[key] = tag }
      let news = last.filter { $0.value > token?.place ?? 0 }.sorted { $0.value < $1.value }
        .prefix(limit)
      let place = news.last?.value ?? token?.place ?? 0
      var page = Page(token: Token(zone: zone, place: place), isWhole: token == nil)
      for (key, _) in news {
        if let record = records[key] {
          page.changed.append((key, record.tag, record.state))
        } else {
          page.deleted.append(key)
        }
      }
      return .page(page)
    }
  }
}
