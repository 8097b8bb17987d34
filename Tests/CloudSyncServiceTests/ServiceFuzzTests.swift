import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWire
import Foundation
import Testing

/// Requests that begin as good ones, and are changed: whatever comes of them, it is answered, and a record is changed
/// as a whole, by a request that says so, or not at all.
@Suite("Hostile requests to the service")
struct ServiceFuzzTests {
  private typealias Contents = [String: Record]

  /// A service with some records, which is asked in bytes.
  private struct Target {
    let world: ServiceWorld

    init(store: any LocalCloudStore) async throws {
      var limits = ServiceLimits()
      limits.requests = nil
      world = ServiceWorld(store: store, limits: limits) { $0.isAtomic = false }
      _ = try await world.handler("phone").createZone().get()
    }

    func contents() throws -> Contents {
      let records = try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID)
      return Dictionary(records.map { ($0.recordID.name, $0) }) { first, _ in first }
    }

    func send(_ target: String, _ body: [UInt8], token: String?) async -> HTTPResponse {
      var headers: HTTPHeaders = [:]
      headers["Authorization"] = "Bearer \(ServiceWorld.token("phone"))"
      if let token { headers[WireHeader.writeToken] = token }
      let path = "/database/1/cloudsync/production/private/\(target)"
      let request = HTTPRequest(method: "POST", target: path, headers: headers, body: body)
      return await world.service.respond(to: request)
    }
  }

  private static func modification(_ random: inout SplitMix64, _ contents: Contents) -> [UInt8] {
    let names = (0..<8).map { "r\($0)" }
    var records: [Record] = []
    var deleted: [RecordID] = []
    for name in names {
      switch random.next() % 4 {
      case 0:
        let fields: [String: FieldValue] = [
          "n": .int64(Int64(random.next() % 100)), "s": .string("é\u{0}\"\(random.next() % 9)"),
          "d": .double(-0.5), "l": [1, 2, 3], "b": .data(Data([1, 2, 3])),
          "t": .timestamp(Timestamp(nanoseconds: 1_700_000_000_000_000_000)),
          random.next() % 2 == 0 ? "x" : "y": random.next() % 2 == 0 ? .null : .int64(7),
        ]
        records.append(note(name, fields, tag: contents[name]?.changeTag))
      case 1 where contents[name] != nil:
        deleted.append(RecordID(name: name, zoneID: ServiceWorld.zoneID))
      default: break
      }
    }
    let operation = ModifyOperation(records: records, recordIDsToDelete: deleted)
    let isAtomic = random.next() % 2 == 0
    return WireModification(operation, zoneID: ServiceWorld.zoneID, isAtomic: isAtomic).body()
  }

  /// A request of any kind, and where it goes.
  private static func request(
    _ random: inout SplitMix64,
    _ contents: Contents
  ) -> (target: String, body: [UInt8]) {
    let ids = (0..<4).map { RecordID(name: "r\($0)", zoneID: ServiceWorld.zoneID) }
    switch random.next() % 10 {
    case 0...5: return ("records/modify", modification(&random, contents))
    case 6: return ("records/lookup", WireLookup(ids, zoneID: ServiceWorld.zoneID).body)
    case 7:
      let changes = WireZoneChanges(zoneID: ServiceWorld.zoneID, syncToken: "AAAA", resultsLimit: 5)
      return ("changes/zone", changes.body)
    case 8: return ("zones/modify", WireZones.body(creating: ServiceWorld.zoneID))
    default:
      return ("subscriptions/modify", WireSubscriptions.body(subscribingTo: ServiceWorld.zoneID))
    }
  }

  /// What a hostile client writes instead of a part of a body.
  private static let pieces: [String] = [
    "1e999", "-1e999", "9223372036854775808", "-9223372036854775809", "1e-400", "-0",
    String(repeating: "9", count: 400), "0.\(String(repeating: "1", count: 400))", "null", "true",
    "[]", "{}", "\"\"", "\"\\ud800\"", "\"\\u0000\"", "\"é\"", "{\"value\":{\"value\":1}}",
    String(repeating: "[", count: 10_000), String(repeating: "{\"a\":", count: 3_000),
    "{\"recordName\":\"r1\",\"recordName\":\"r2\"}", ",", ":", "}", "]", "\"", "\\", "\u{7f}",
    "\"type\":\"INT64_LIST\"", "\"type\":\"STRING\"", "\"operationType\":\"forceUpdate\"",
  ]

  private static func changed(_ body: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = body
    for _ in 0..<(1 + random.next() % 3) {
      guard !bytes.isEmpty else { break }
      let place = Int(random.next() % UInt64(bytes.count))
      switch random.next() % 7 {
      case 0: bytes[place] ^= UInt8(1 << (random.next() % 8))
      case 1: bytes.removeLast(bytes.count - place)
      case 2: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 3:
        let end = min(bytes.count, place + Int(random.next() % 40))
        bytes.removeSubrange(place..<end)
      case 4:
        let piece = pieces[Int(random.next() % UInt64(pieces.count))]
        bytes.insert(contentsOf: Array(piece.utf8), at: place)
      case 5: bytes = replacingValue(in: bytes, near: place, &random)
      default: bytes.insert(contentsOf: bytes[place...], at: place)
      }
    }
    return bytes
  }

  /// The body with another value behind a colon: what follows stays as it is, so that it is JSON more often.
  private static func replacingValue(
    in bytes: [UInt8],
    near place: Int,
    _ random: inout SplitMix64
  ) -> [UInt8] {
    guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) else { return bytes }
    let rest = bytes[(colon + 1)...]
    let ends = Array(",}]".utf8)
    let end = rest.firstIndex { ends.contains($0) } ?? rest.endIndex
    let piece = pieces[Int(random.next() % UInt64(pieces.count))]
    return Array(bytes[...colon]) + Array(piece.utf8) + Array(bytes[end...])
  }

  @Test(
    "48, 69. Changed requests are answered, and change records as they say or not at all",
    arguments: [true, false]
  )
  func changedRequests(isFile: Bool) async throws {
    let folder = URL(fileURLWithPath: TestPath.folder)
      .appendingPathComponent("service-fuzz-\(isFile)-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store: any LocalCloudStore =
      isFile ? try SQLiteStore(path: folder.path + "/fuzz.cloud") : MemoryStore()
    let target = try await Target(store: store)
    var random = SplitMix64(seed: isFile ? 21 : 22)
    var statuses: [Int: Int] = [:]
    var writes = 0
    for round in 0..<SuiteSize.count(isFile ? 600 : 900, long: 100_000) {
      let before = try target.contents()
      let (path, body) = Self.request(&random, before)
      let sent = random.next() % 8 == 0 ? body : Self.changed(body, &random)
      let token = random.next() % 3 == 0 ? nil : "\(random.next() % 50)-\(random.next() % 9)"
      let response = await target.send(path, sent, token: token)

      statuses[response.status, default: 0] += 1
      let after = try target.contents()
      let problem = Self.problem(path, sent, response, before: before, after: after)
      if after.mapValues(\.changeTag) != before.mapValues(\.changeTag) { writes += 1 }
      guard let problem else { continue }
      Issue.record(
        "round \(round): \(problem)\n\(String(decoding: sent.prefix(2_000), as: UTF8.self))"
      )
      return
    }
    #expect(
      Set(statuses.keys).isSubset(of: [200, 400, 401, 403, 404, 405, 409, 412, 413, 421, 429])
    )
    // It is not all refused.
    #expect(statuses[200] ?? 0 > 100 && statuses[400] ?? 0 > 100 && writes > 50, "\(statuses)")
  }

  /// What is wrong with what a request has done; nil if nothing is.
  private static func problem(
    _ path: String,
    _ body: [UInt8],
    _ response: HTTPResponse,
    before: Contents,
    after: Contents
  ) -> String? {
    if !response.body.isEmpty {
      let json = try? JSONSerialization.jsonObject(with: Data(response.body))
      if json == nil { return "the response is no JSON: \(response.text)" }
    }
    let names = Set(before.keys).union(after.keys)
    let different = names.filter { before[$0]?.changeTag != after[$0]?.changeTag }
    if different.isEmpty { return nil }
    guard path == "records/modify", response.status == 200 else {
      return "records are others after status \(response.status) of \(path)"
    }
    let assets = WireAsset.unlocated
    guard
      let request = try? WireModification(reading: body, scope: .private, with: assets, limit: 400)
    else { return "a body that cannot be read has changed records" }
    for name in different {
      let edit = request.operation.records.first { $0.recordID.name == name }
      let isDeleted = request.operation.recordIDsToDelete.contains { $0.name == name }
      switch (edit, after[name]) {
      case (nil, nil) where isDeleted: break
      case (let edit?, let record?):
        let whole = (before[name] ?? Record(recordType: edit.recordType, recordID: edit.recordID))
          .applying(edit)
        if whole.fields != record.fields {
          return "\(name) has \(record.fields), not \(whole.fields)"
        }
      default: return "\(name) is another one, and nobody has asked for that"
      }
    }
    return nil
  }
}
