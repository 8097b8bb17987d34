import CloudSyncLocalCloud
import CloudSyncSession

/// A device at a local cloud, on which requests of 400 records are timed.
struct CloudBenchmarks {
  static let zoneID = ZoneID(name: "Notes")
  static let batchSize = 400
  private let connection: LocalCloudConnection
  private var attempts: UInt64 = 0

  /// Connects a device to a new cloud, and has its zone made.
  init(_ store: any LocalCloudStore, pageSize: Int = 200) {
    var options = LocalCloudOptions()
    options.pageSize = pageSize
    let time = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    let cloud = LocalCloud(store: store, options: options, now: { time })
    connection = cloud.connect(
      device: "device",
      account: AccountIdentity("somebody"),
      zoneID: Self.zoneID
    )
    connection.handle(
      createZoneOperation: CreateZoneOperation(zoneID: Self.zoneID),
      context: context()
    ) { _ in }
  }

  private mutating func context() -> RequestContext {
    attempts += 1
    return RequestContext(
      attempt: Attempt(epoch: 1, number: attempts),
      writeToken: WriteToken(nonce: 1, number: attempts),
      deadline: .distantFuture
    )
  }

  /// Requests that save so many new records of five fields, 400 each.
  static func batches(_ count: Int) -> [ModifyOperation] {
    (0..<count)
      .map { batch in
        ModifyOperation(records: (0..<batchSize).map { record(batch * batchSize + $0) })
      }
  }

  /// A record whose name says nothing about its number, as those of apps.
  private static func record(_ number: Int) -> Record {
    let name = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15, radix: 16)
    return Record(
      recordType: "Note",
      recordID: RecordID(name: "note-\(name)", zoneID: zoneID),
      fields: [
        "title": .string("Title number \(number)"),
        "text": .string(String(repeating: "lorem ", count: 20)),
        "count": .int64(Int64(number)), "done": .int64(0),
        "due": .timestamp(Timestamp(nanoseconds: 1_700_000_000_000_000_000)),
      ]
    )
  }

  /// Sends one request; the cloud answers before the call returns.
  mutating func save(_ operation: ModifyOperation) throws -> ModifyOperation.Response {
    let answer = Answer<ModifyOperation.Response>()
    connection.handle(modifyOperation: operation, context: context()) { answer.result = $0 }
    return try answer.value()
  }

  /// Fetches the page after a token.
  mutating func page(after token: ChangeToken?) throws -> FetchOperation.Response {
    let answer = Answer<FetchOperation.Response>()
    let operation = FetchOperation(changeToken: token)
    connection.handle(fetchOperation: operation, context: context()) { answer.result = $0 }
    return try answer.value()
  }
}

/// What a handler answered within the call.
private final class Answer<Value: Sendable>: @unchecked Sendable {
  // It is unchecked because the local cloud answers on the caller's thread.
  var result: Result<Value, SyncError>?

  func value() throws -> Value {
    guard let result else { throw SyncError(.internalError, "the cloud has not answered") }
    return try result.get()
  }
}
