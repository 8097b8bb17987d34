import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

/// Random edits of few records, sent to a cloud with limits of its own.
@Suite("Batching, over random scripts")
struct BatchingPropertyTests {
  /// What a record is after edits: its fields, or nil for none.
  typealias Contents = [String: [String: FieldValue]]

  /// A cloud that takes requests up to its own size and keeps what they say.
  private final class Cloud: Sendable {
    let contents = Locked<Contents>([:])
    let most: Int
    let mostBytes: Int

    init(most: Int, mostBytes: Int) {
      self.most = most
      self.mostBytes = mostBytes
    }

    func answer(
      _ operation: ModifyOperation
    ) -> ScriptedHandler.Reply<ModifyOperation.Response> {
      let bytes = operation.records.map(\.byteCount).reduce(0, +)
      if operation.itemCount > most || bytes > mostBytes && operation.itemCount > 1 {
        return .failure(.limitExceeded)
      }
      contents.withLock { contents in
        for record in operation.records { BatchingPropertyTests.apply(record, to: &contents) }
        for recordID in operation.recordIDsToDelete { contents[recordID.name] = nil }
      }
      return .success(ScriptedHandler.allSaved(operation))
    }
  }

  private static func apply(_ record: Record, to contents: inout Contents) {
    var fields = contents[record.recordID.name] ?? [:]
    for name in ["a", "b", "c"] {
      guard let value = record[name] else { continue }
      fields[name] = value == .null ? nil : value
    }
    contents[record.recordID.name] = fields
  }

  private static func randomOperation(
    _ generator: inout SplitMix64,
    _ number: Int
  ) -> ModifyOperation {
    var names = (0..<12).map { "r\($0)" }
    var records: [Record] = []
    var deletions: [RecordID] = []
    for _ in 0..<generator.below(6) {
      let name = names.remove(at: generator.below(names.count))
      guard generator.chance(3, in: 4) else {
        deletions.append(SessionHarness.id(name))
        continue
      }
      var fields: [String: FieldValue] = [:]
      for key in ["a", "b", "c"] where generator.chance(1, in: 2) {
        switch generator.below(3) {
        case 0: fields[key] = .int64(Int64(number))
        case 1: fields[key] = .null
        default:
          fields[key] = .data(Data(repeating: UInt8(number % 256), count: generator.below(200)))
        }
      }
      records.append(SessionHarness.record(name, fields))
    }
    return ModifyOperation(
      records: records,
      recordIDsToDelete: deletions,
      userInfo: ["number": "\(number)"]
    )
  }

  @Test("The cloud ends as the edits say, and each operation completes once", arguments: 0..<150)
  func endsAsSubmitted(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let cloud = Cloud(most: 1 + generator.below(20), mostBytes: 200 + generator.below(1_000))
    let limits = RequestLimits(items: 1 + generator.below(25), bytes: 200 + generator.below(2_000))
    let script = ScriptedHandler.Script(modify: { operation, number in
      let reply = cloud.answer(operation)
      guard number % 3 == 1, case .now(let result) = reply else { return reply }
      return .after(.seconds(1), result)
    })
    let bench = SessionHarness(limits: limits, script: script)
    var expected: Contents = [:]
    var submitted: [ModifyOperation] = []
    for number in 0..<60 {
      let operation = Self.randomOperation(&generator, number)
      try bench.session.modify(operation)
      submitted.append(operation)
      for record in operation.records { Self.apply(record, to: &expected) }
      for recordID in operation.recordIDsToDelete { expected[recordID.name] = nil }
      if number == 20 { bench.session.start() }
      if generator.chance(1, in: 4) { bench.world.advance(by: .milliseconds(700)) }
      if generator.chance(1, in: 16) { #expect(bench.brokenInvariant == nil) }
    }
    bench.world.advance(by: .seconds(3_600))

    #expect(cloud.contents.withLock { $0 } == expected)
    #expect(bench.state.parkedRecords.isEmpty && !bench.state.hasWorkQueued)
    check(bench, submitted, limits)
  }

  private func check(
    _ bench: SessionHarness,
    _ submitted: [ModifyOperation],
    _ limits: RequestLimits
  ) {
    let ended = bench.completions.entries
    #expect(ended.map { $0.operation.userInfo?["number"] } == submitted.indices.map { "\($0)" })
    for (end, operation) in zip(ended, submitted) {
      // A save that a later deletion went over is told as deleted.
      let told = end.response.savedRecords.map(\.recordID) + end.response.deletedRecordIDs
      let records = operation.records.map(\.recordID) + operation.recordIDsToDelete
      #expect(told.count == records.count && Set(told) == Set(records))
      #expect(end.response.unsaved.isEmpty)
    }
    for call in bench.handler.modifyCalls {
      #expect(call.names.count <= limits.items && !call.names.isEmpty)
      #expect(Set(call.saves.map(\.recordID) + call.deletions).count == call.names.count)
      let bytes =
        call.saves.map(\.byteCount).reduce(0, +)
        + call.deletions.map(\.name.utf8.count).reduce(0, +)
      #expect(bytes <= limits.bytes || call.names.count == 1)
    }
    #expect(bench.brokenInvariant == nil)
  }
}
