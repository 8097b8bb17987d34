import CloudSyncEventLog
import CloudSyncSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the toolchain's own JSON coder gives for the same values: what the log's codec is held
/// against.
enum JSONCoderBenchmarks {
  /// The same content as an edit's event, in structs whose coding the compiler makes.
  private struct PlainEvent: Codable {
    struct Zone: Codable { var name, owner, scope: String }
    struct ID: Codable {
      var name: String
      var zoneID: Zone
    }
    struct Value: Codable {
      var kind: String
      var value: Int64
    }
    struct Field: Codable {
      var name: String
      var value: Value
    }
    struct Item: Codable {
      var recordType: String
      var recordID: ID
      var fields: [Field]
      var encryptedKeys: [String]
      var changeTag: String?
    }
    var sequence: UInt64
    var time: Int64
    var cause: UInt64?
    var origin: String
    var kind: String
    var operation: UInt64
    var records: [Item]
    var recordIDsToDelete: [ID]
    var byteCount: Int
  }

  private static func plain(_ number: Int) -> PlainEvent {
    let zone = PlainEvent.Zone(name: "Notes", owner: "__defaultOwner__", scope: "private")
    let item = PlainEvent.Item(
      recordType: "Note",
      recordID: PlainEvent.ID(name: "note-\(number)", zoneID: zone),
      fields: (0..<5)
        .map {
          PlainEvent.Field(
            name: "field\($0)",
            value: PlainEvent.Value(kind: "int64", value: Int64(number + $0))
          )
        },
      encryptedKeys: []
    )
    return PlainEvent(
      sequence: UInt64(number),
      time: 1_700_000_000_000_000_000,
      origin: "call",
      kind: "doWork",
      operation: UInt64(number),
      records: [item],
      recordIDsToDelete: [],
      byteCount: 100
    )
  }

  /// The events of so many operations of one record.
  private static func records(_ operations: Int) throws -> [EventRecord] {
    let list = EventList()
    let made = try OneRecordSession(queued: 1_000)
    let subscription = made.session.eventsPublisher.sink { list.records.append($0) }
    _ = try made.run(World.operations(operations, from: 1_000))
    subscription.cancel()
    return list.records
  }

  private final class EventList: @unchecked Sendable {
    // It is unchecked because the benchmark's world has one thread.
    var records: [EventRecord] = []
  }

  /// Values a second, encoded and decoded one by one.
  struct Rates {
    var encode: Double
    var decode: Double
  }

  private static func rates<Value: Codable>(_ values: [Value]) throws -> Rates {
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    var encodes: [Double] = []
    var decodes: [Double] = []
    let clock = ContinuousClock()
    for run in 0...5 {
      var start = clock.now
      let coded = try values.map { try encoder.encode($0) }
      let encoding = (clock.now - start).nanoseconds
      start = clock.now
      for data in coded { _ = try decoder.decode(Value.self, from: data) }
      let decoding = (clock.now - start).nanoseconds
      if run == 0 { continue }
      encodes.append(Double(values.count) / encoding * 1e9)
      decodes.append(Double(values.count) / decoding * 1e9)
    }
    return Rates(encode: encodes.sorted()[2], decode: decodes.sorted()[2])
  }

  /// The events themselves, by their `Codable` form.
  static func events() throws -> Rates { try rates(try records(1_000)) }

  /// Plain structs of the same content as edits.
  static func structs() throws -> Rates { try rates((0..<3_000).map(plain)) }
}
