import CloudSyncSession

/// A session with so many of everything, as bytes from which any number of sessions begin.
///
/// So many records are parked, operations of one record queued, and fetches waiting; a fetch runs for
/// as many others. Its first page is not acknowledged, so only modifications are sent.
struct Crowd {
  let size: Int
  let archive: SyncArchive
  let operations: [OperationID]
  let runningFetches: [OperationID]
  let waitingFetches: [OperationID]
  let parked: [RecordID]

  // Unsafe in name only, because the benchmarks run on one thread.
  nonisolated(unsafe) private static var made: [Int: Crowd] = [:]

  /// The crowd of a size, made once.
  static func of(_ size: Int) throws -> Crowd {
    if let crowd = made[size] { return crowd }
    let crowd = try Crowd(size: size)
    made[size] = crowd
    return crowd
  }

  private init(size: Int) throws {
    self.size = size
    let bench = ScalingBench(items: size)
    bench.session.start()
    try bench.submit(Self.records("parked", size))
    _ = bench.answerAll(Replies.refused(.invalidArguments))
    bench.session.stop()
    runningFetches = (0..<size).map { _ in bench.session.fetch() }
    bench.session.start()
    _ = bench.answer(page: Replies.page(0))
    bench.session.stop()
    waitingFetches = (0..<size).map { _ in bench.session.fetch() }
    operations = try Self.records("note", size)
      .map { try bench.session.modify(ModifyOperation(records: [$0])) }
    archive = try bench.archive()
    parked = archive.state.parkedRecords.map(\.recordID)
    let state = archive.state
    precondition(parked.count == size && state.modifyQueue.count == size)
    precondition(state.fetchQueue.count == 2 * size)
  }

  static func records(_ name: String, _ count: Int) -> [Record] {
    (0..<count).map { record("\(name)-\($0)") }
  }

  static func record(_ name: String) -> Record {
    var record = Record(
      recordType: "Note",
      recordID: RecordID(name: name, zoneID: World.zoneID)
    )
    for field in 0..<5 { record["field\(field)"] = .int64(Int64(field)) }
    return record
  }

  /// A session with the crowd in it; requests of a started one hold so many items.
  func bench(isStarted: Bool = false, items: Int = 10) -> ScalingBench {
    let bench = ScalingBench(archive, items: items)
    if isStarted { bench.session.start() }
    return bench
  }

  /// The place of the nth of many that are taken in no order.
  func shuffled(_ number: Int) -> Int { number * 7_919 % size }
}
