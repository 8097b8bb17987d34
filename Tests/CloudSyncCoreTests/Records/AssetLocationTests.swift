import CloudSyncCore
import CloudSyncSimulator
import Foundation
import Testing

@Suite("Assets in a folder that moves")
struct AssetLocationTests {
  private let zone = ZoneID(name: "Notes")
  private static let digest = Data(repeating: 7, count: 32)

  private func asset(_ location: String) -> Asset {
    Asset(sha256: Self.digest, byteCount: 3, location: location)
  }

  @Test(
    "A location is relative to a folder that holds the file, and found where the folder is now",
    arguments: [
      ("/old/app/a", "/old/app", "a", "/new/app/a"),
      ("/old/app/sub/a", "/old/app/", "sub/a", "/new/app/sub/a"),
      ("/old/application/a", "/old/app", "/old/application/a", "/old/application/a"),
      ("/old/app/", "/old/app", "/old/app/", "/old/app/"),
      ("/elsewhere/a", "/old/app", "/elsewhere/a", "/elsewhere/a"),
      ("https://example.org/a", "/old/app", "https://example.org/a", "https://example.org/a"),
    ]
  )
  func locations(location: String, folder: String, stored: String, resolved: String) {
    let relative = asset(location).relative(to: folder)

    #expect(relative.location == stored)
    #expect(relative.resolved(in: "/new/app").location == resolved)
    #expect(relative.resolved(in: "/new/app/").location == resolved)
  }

  /// Keeps what it was asked to save, and answers with it.
  private final class Cloud: WorkHandler {
    let saved = Locked<[Record]>([])

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      switch work {
      case .createZone: completion(.success(.createZone(true)))
      case .createSubscription: completion(.success(.createSubscription(true)))
      case .modify(let operation): completion(save(operation.records).map { .modify($0) })
      case .fetch:
        let records = saved.withLock { $0 }
        let page = FetchOperation.Response(changedRecords: records, changeToken: nil)
        completion(.success(.fetch(page)))
      }
    }

    private func save(_ records: [Record]) -> Result<ModifyOperation.Response, SyncError> {
      saved.withLock { $0 += records }
      guard let conflict = records.first(where: { $0.recordID.name == "conflict" }) else {
        return .success(ModifyOperation.Response(savedRecords: records))
      }
      let error = SyncError(.serverRecordChanged, clientRecord: conflict, serverRecord: conflict)
      let item = ItemFailure(conflict.recordID, error)
      return .failure(SyncError(.partialFailure, itemErrors: [item]))
    }
  }

  private func record(_ name: String) -> Record {
    Record(
      recordType: "Photo",
      recordID: RecordID(name: name, zoneID: zone),
      fields: [
        "file": .asset(asset("a")), "list": .list([.asset(asset("b")), .int64(1)]), "title": "T",
      ]
    )
  }

  private func locations(_ record: Record?) -> [String] {
    (record?.fields ?? [])
      .flatMap { field -> [FieldValue] in
        if case .list(let values) = field.value { values } else { [field.value] }
      }
      .compactMap { if case .asset(let asset) = $0 { asset.location } else { nil } }
  }

  @Test("The cloud's handler sees where files are, the session where they are in the folder")
  func handler() {
    let cloud = Cloud()
    let resolving = AssetResolvingHandler(cloud, folder: "/now/app")
    let context = RequestContext(
      attempt: Attempt(epoch: 1, number: 1),
      writeToken: WriteToken(nonce: 1, number: 1),
      deadline: .distantFuture
    )
    let answers = Locked<[Record?]>([])
    resolving.handle(
      modifyOperation: ModifyOperation(records: [record("a")]),
      context: context
    ) { result in answers.withLock { $0.append(try? result.get().savedRecords.first) } }
    resolving.handle(fetchOperation: FetchOperation(), context: context) { result in
      answers.withLock { $0.append(try? result.get().changedRecords.first) }
    }
    resolving.handle(
      modifyOperation: ModifyOperation(records: [record("conflict")]),
      context: context
    ) { result in
      guard case .failure(let error) = result else { return }
      answers.withLock { $0.append(error.itemErrors.first?.error.serverRecord) }
    }

    let sent = cloud.saved.withLock { $0 }
    #expect(sent.map(locations) == Array(repeating: ["/now/app/a", "/now/app/b"], count: 2))
    #expect(sent.first?["title"] == "T")
    #expect(answers.withLock { $0 }.map(locations) == Array(repeating: ["a", "b"], count: 3))
  }
}
