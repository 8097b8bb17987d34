import CloudSyncLocalCloud
import CloudSyncSession
import PostgresStore
import PostgresTestServer
import Synchronization

/// A device of one account, whose requests are answered before the call returns.
struct Client: Sendable {
  static let account = AccountIdentity("alice")
  static let zoneID = ZoneID(name: "Notes")

  let handler: any OperationHandler

  init(handler: any OperationHandler) { self.handler = handler }

  init(
    _ store: any LocalCloudStore,
    device: String = "phone",
    account: AccountIdentity = account,
    options: LocalCloudOptions = LocalCloudOptions()
  ) {
    handler = LocalCloud(store: store, options: options)
      .connect(device: device, account: account, zoneID: Self.zoneID)
  }

  /// A device whose zone exists.
  static func ready(_ store: any LocalCloudStore, device: String = "phone") throws -> Client {
    let client = Client(store, device: device)
    _ = try client.createZone().get()
    return client
  }

  private func wait<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> Void
  ) -> Result<Value, SyncError> {
    let answers = Answers<Value>()
    body { answers.add($0) }
    return answers.only
  }

  private final class Answers<Value: Sendable>: Sendable {
    private let all = Mutex<[Result<Value, SyncError>]>([])
    func add(_ answer: Result<Value, SyncError>) { all.withLock { $0.append(answer) } }
    var only: Result<Value, SyncError> {
      all.withLock { all in
        all.count == 1
          ? all[0] : .failure(SyncError(.invalidResponse, "there were \(all.count) answers"))
      }
    }
  }

  private func context(_ token: UInt64) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: token),
      writeToken: WriteToken(nonce: 7, number: token),
      deadline: .distantFuture
    )
  }

  func createZone() -> Result<Bool, SyncError> {
    let operation = CreateZoneOperation(zoneID: Self.zoneID)
    return wait {
      handler.handle(createZoneOperation: operation, context: context(0), completion: $0)
    }
  }

  /// Saves and deletes with a write token that belongs to this request and its repeats.
  func modify(
    _ records: [Record] = [],
    delete names: [String] = [],
    token: UInt64
  ) -> Result<ModifyOperation.Response, SyncError> {
    let operation = ModifyOperation(
      records: records,
      recordIDsToDelete: names.map { RecordID(name: $0, zoneID: Self.zoneID) }
    )
    return wait {
      handler.handle(modifyOperation: operation, context: context(token), completion: $0)
    }
  }

  func fetch(_ token: ChangeToken? = nil) -> Result<FetchOperation.Response, SyncError> {
    let operation = FetchOperation(changeToken: token)
    return wait {
      handler.handle(fetchOperation: operation, context: context(0), completion: $0)
    }
  }

  /// The names of all records, page after page.
  func names() throws -> [String] {
    var names: [String] = []
    var token: ChangeToken?
    while true {
      let page = try fetch(token).get()
      names += page.changedRecords.map(\.recordID.name)
      token = page.changeToken
      if !page.hasMore { return names }
    }
  }

  static func note(
    _ name: String,
    _ fields: [String: FieldValue] = ["x": 1],
    tag: String? = nil
  ) -> Record {
    let recordID = RecordID(name: name, zoneID: zoneID)
    return Record(recordType: "Note", recordID: recordID, fields: fields, changeTag: tag)
  }

  /// A record that is deleted together with another one.
  static func child(_ name: String, of target: String) -> Record {
    let recordID = RecordID(name: target, zoneID: zoneID)
    return note(name, ["of": .reference(Reference(recordID: recordID, action: .deleteSelf))])
  }
}

extension Result where Failure == SyncError {
  /// The error, if there is one.
  var error: SyncError? { if case .failure(let error) = self { error } else { nil } }
}
