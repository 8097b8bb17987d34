import CloudKit
import CloudSyncCloudKit
import Foundation

/// Measures what the adapter does with the records of a request and of a page.
///
/// The handler makes 250 records of CloudKit's and reads 250; the server answers at once, out of memory, and its own
/// time is measured by itself and taken off. Most of what is left is Foundation's archiver on Linux,
/// which makes the bytes of each record's system fields: it is told apart, as Apple's is another one. It is
/// measured right behind each request, since the difference is small beside either.
enum MappingBenchmark {
  private static let count = 250
  private static let rounds = 41

  static func run() throws {
    let server = InstantServer(count: count)
    defer { withExtendedLifetime(server) {} }
    let edits = (0..<count).map { InstantServer.note($0) }
    let handler = CloudKitOperationHandler(
      database: CKContainer(identifier: server.identifier).privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: InstantServer.zoneName)
    )
    var modify: [Double] = []
    var fetch: [Double] = []
    var archive: [Double] = []
    var both: [Double] = []
    for round in 0..<rounds {
      let saved = try milliseconds { try save(edits, round: round, handler) } - server.seconds * 1e3
      let afterSave = try milliseconds { server.archiveAll() }
      let paged = try milliseconds { try page(round: round, handler) } - server.seconds * 1e3
      let afterPage = try milliseconds { server.archiveAll() }
      modify.append(saved)
      fetch.append(paged)
      archive += [afterSave, afterPage]
      both.append(saved - afterSave + paged - afterPage)
    }
    print("250 records of 8 fields, medians of \(rounds) rounds, in ms:")
    print("edits to CloudKit and the response back \(text(median(modify)))")
    print("a page from CloudKit                    \(text(median(fetch)))")
    print("of each: Foundation's archiver          \(text(median(archive)))")
    print("mapping both ways without the archiver  \(text(median(both)))  (goal: 5)")
  }

  private static func save(
    _ edits: [Record],
    round: Int,
    _ handler: CloudKitOperationHandler
  ) throws {
    let answered = Answer<ModifyOperation.Response>()
    handler.handle(modifyOperation: ModifyOperation(records: edits), context: context(round)) {
      answered.result = $0
    }
    guard try answered.get().savedRecords.count == count else { throw Failure() }
  }

  private static func page(round: Int, _ handler: CloudKitOperationHandler) throws {
    let answered = Answer<FetchOperation.Response>()
    handler.handle(fetchOperation: FetchOperation(), context: context(round)) {
      answered.result = $0
    }
    guard try answered.get().changedRecords.count == count else { throw Failure() }
  }

  private static func context(_ round: Int) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: UInt64(round)),
      writeToken: WriteToken(nonce: 1, number: UInt64(round)),
      deadline: .distantFuture
    )
  }

  private static func milliseconds(_ body: () throws -> Void) throws -> Double {
    let duration = try ContinuousClock().measure(body)
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func text(_ value: Double) -> String { String(format: "%7.2f", value) }

  struct Failure: Error {}
}

/// A response that comes before the call returns: the server of the benchmark is on the same thread.
///
/// `@unchecked Sendable` because of that.
private final class Answer<Value>: @unchecked Sendable {
  var result: Result<Value, SyncError>?

  func get() throws -> Value {
    guard let result else { throw MappingBenchmark.Failure() }
    return try result.get()
  }
}
