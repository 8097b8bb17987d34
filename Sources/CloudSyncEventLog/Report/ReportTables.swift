import CloudSyncCore

/// The tables into which the numbers of a page point.
struct ReportTables {
  /// The names of the kinds of events that occur.
  private(set) var kinds: [String] = []
  /// The names of records, in the order in which they occur first.
  private(set) var recordNames: [String] = []
  /// What happens to records.
  private(set) var verbs: [String] = []
  /// How many events have each mark, in the order of the bits.
  private(set) var markCounts = [Int](repeating: 0, count: EventMarks.names.count)
  /// Whether there was more to say of records than a page should hold.
  private(set) var isCut = false

  // The dictionaries are looked up, never gone through.
  private var kindIndexes: [String: Int] = [:]
  private var recordIndexes: [RecordID: Int] = [:]
  private var verbIndexes: [String: Int] = [:]
  private var touchCount = 0

  /// More is not told about records: a browser has to hold it.
  private static let mostTouches = 2_000_000

  mutating func count(marks: EventMarks) {
    for bit in markCounts.indices where marks.rawValue & (1 << UInt8(bit)) != 0 {
      markCounts[bit] += 1
    }
  }

  mutating func kind(of event: SyncEvent) -> Int {
    Self.index(of: event.name, in: &kinds, indexes: &kindIndexes)
  }

  private static func index(
    of name: String,
    in names: inout [String],
    indexes: inout [String: Int]
  ) -> Int {
    if let index = indexes[name] { return index }
    indexes[name] = names.count
    names.append(name)
    return names.count - 1
  }

  /// The indexes of records and of what happened to them, alternating.
  mutating func touches(touches: RecordTouches, in zoneID: ZoneID) -> [Int] {
    guard touchCount + touches.list.count <= Self.mostTouches else {
      isCut = true
      return []
    }
    touchCount += touches.list.count
    var result: [Int] = []
    result.reserveCapacity(2 * touches.list.count)
    for (recordID, verb) in touches.list {
      result.append(index(of: recordID, in: zoneID))
      result.append(Self.index(of: verb, in: &verbs, indexes: &verbIndexes))
    }
    return result
  }

  private mutating func index(of recordID: RecordID, in zoneID: ZoneID) -> Int {
    if let index = recordIndexes[recordID] { return index }
    recordIndexes[recordID] = recordNames.count
    recordNames.append(
      ReportText.cut(recordID.zoneID == zoneID ? recordID.name : "\(recordID)")
    )
    return recordNames.count - 1
  }
}

extension ReportTables {
  /// What a session is at, for the timeline: the first one that holds.
  static let statuses = [
    "idle", "at work", "not started", "stopped", "waits for the account", "gate closed",
    "waits for the zone", "waits for acknowledgement", "waits for storage", "not known",
  ]

  static let unknownStatus = 9

  static func status(next: NextStep) -> Int {
    guard case .wait(let reasons, _) = next else { return 1 }
    let table: [(WaitReasons, Int)] = [
      (.inFlight, 1), (.notStarted, 2), (.stopped, 3), (.accountUnknown, 4), (.accountAway, 4),
      (.accountSwitched, 4), (.gate, 5), (.zone, 6), (.acknowledgement, 7), (.quota, 8),
    ]
    return table.first { reasons.contains($0.0) }?.1 ?? 0
  }
}
