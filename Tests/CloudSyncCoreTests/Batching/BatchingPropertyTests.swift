import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

/// Random edits of few records, sent to a cloud with limits of its own.
@Suite("Batching, over random scripts")
struct BatchingPropertyTests {
  /// What a record is after edits: its fields, or nil for none.
  typealias Contents = [String: [String: FieldValue]]

  /// A session over a cloud that takes so much in a request, and answers every third call late.
  private static func bench(_ limits: RequestLimits, most: Int, mostBytes: Int) -> CloudHarness {
    var options = StubCloud.Options()
    options.limits = limits
    options.itemLimit = most
    options.checksChangeTags = false
    return CloudHarness(options: options) { number, work in
      if case .modify(let operation) = work, operation.itemCount > 1,
        operation.records.map(\.byteCount).reduce(0, +) > mostBytes
      {
        return .failure(.limitExceeded)
      }
      return number % 3 == 0 ? .delay(.seconds(1)) : nil
    }
  }

  /// What the records of a cloud are.
  private static func contents(of cloud: StubCloud) -> Contents {
    var contents: Contents = [:]
    for record in cloud.records { apply(record, to: &contents) }
    return contents
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

  @Test(
    "The cloud ends as the edits say, and each operation completes once",
    arguments: 0..<SuiteSize.count(10, long: 1_500)
  )
  func endsAsSubmitted(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let (most, mostBytes) = (1 + generator.below(20), 200 + generator.below(1_000))
    let limits = RequestLimits(items: 1 + generator.below(25), bytes: 200 + generator.below(2_000))
    let bench = Self.bench(limits, most: most, mostBytes: mostBytes)
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

    #expect(Self.contents(of: bench.cloud) == expected)
    #expect(bench.state.parkedRecords.isEmpty && !bench.state.hasWorkQueued)
    check(bench, submitted, limits)
  }

  private func check(
    _ bench: CloudHarness,
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
    for operation in bench.cloud.modifications {
      let (saves, deletions) = (operation.records, operation.recordIDsToDelete)
      #expect(operation.itemCount <= limits.items && operation.itemCount > 0)
      #expect(Set(saves.map(\.recordID) + deletions).count == operation.itemCount)
      let bytes =
        saves.map(\.byteCount).reduce(0, +) + deletions.map(\.name.utf8.count).reduce(0, +)
      #expect(bytes <= limits.bytes || operation.itemCount == 1)
    }
    #expect(bench.wrongs == [])
  }
}
