import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices
import Testing

@Suite("CloudService")
struct ServiceTests {
  private static let save = """
    {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create",
    "record":{"recordName":"a","recordType":"Note","fields":{"x":{"value":"1","type":"INT64"}}}}]}
    """

  /// A service with the zone, and the devices phone and pad let in.
  private func world(_ limits: ServiceLimits = ServiceLimits()) async throws -> ServiceWorld {
    let world = ServiceWorld(limits: limits)
    _ = try await world.handler("phone").createZone().get()
    _ = try world.client("pad")
    return world
  }

  @Test("A plain client's requests are served, without a write token each is a request of its own")
  func plainRequests() async throws {
    let world = try await world()
    let first = await world.post("records/modify", Self.save)
    #expect(first.status == 200)
    #expect(
      first.text.hasPrefix(#"{"records":[{"recordName":"a","recordType":"Note","recordChangeTag":"#)
    )
    let second = await world.post("records/modify", Self.save)
    #expect(second.status == 200 && second.text.contains(#""serverErrorCode":"CONFLICT""#) == false)
    #expect(second.text.contains(#""serverErrorCode":"EXISTS""#))
    #expect(second.text.contains(#""serverRecord":{"recordName":"a""#))
    let found = await world.post(
      "records/lookup",
      #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"},{"recordName":"b"}]}"#
    )
    #expect(found.text.contains(#""x":{"value":"1","type":"INT64"}"#))
    #expect(found.text.contains(#"{"recordName":"b","serverErrorCode":"NOT_FOUND""#))
    let page = await world.post("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
    #expect(page.text.contains(#""moreComing":false"#) && page.text.contains(#""syncToken":""#))
    let zones = await world.post("zones/list", "")
    #expect(zones.text == #"{"zones":[{"zoneID":{"zoneName":"Notes"},"atomic":true}]}"#)
    let caller = await world.post("users/caller", "")
    #expect(caller.text == #"{"userRecordName":"alice"}"#)
  }

  @Test("Zones are looked up, deleted and told about in the database's feed")
  func zones() async throws {
    let world = try await world()
    let names = #"{"zones":[{"zoneName":"Notes"},{"zoneName":"None"}]}"#
    let found = await world.post("zones/lookup", names)
    #expect(found.text.contains(#"{"zoneID":{"zoneName":"Notes"},"atomic":true}"#))
    #expect(
      found.text.contains(#"{"zoneID":{"zoneName":"None"},"serverErrorCode":"ZONE_NOT_FOUND""#)
    )
    let feed = await world.post("changes/database", "{}")
    #expect(feed.text.contains(#""zones":[{"zoneID":{"zoneName":"Notes"}}]"#))
    let change = """
      {"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}},
      {"operationType":"create","zone":{"zoneID":{"zoneName":"Other"}}}]}
      """
    let changed = await world.post("zones/modify", change)
    #expect(changed.status == 200 && !changed.text.contains("serverErrorCode"))
    let after = await world.post("changes/database", "{}")
    #expect(after.text.contains(#"{"zoneID":{"zoneName":"Notes"},"deleted":true}"#))
    #expect(try world.cloud.zones(account: ServiceWorld.alice).map(\.name) == ["Other"])
    let bad = await world.post("changes/database", #"{"syncToken":"AAAA"}"#)
    #expect(bad.status == 400)
  }

  @Test("69. Too many operations, twice one record, wrong method, path, body or encoding")
  func badRequests() async throws {
    var limits = ServiceLimits()
    limits.bodyByteCount = 200_000
    let world = try await world(limits)
    let one = #"{"operationType":"forceDelete","record":{"recordName":"r"}}"#
    func operations(_ count: Int) -> String {
      let list = (0..<count).map { one.replacing(#""r""#, with: "\"r\($0)\"") }
      return #"{"zoneID":{"zoneName":"Notes"},"operations":[\#(list.joined(separator: ","))]}"#
    }
    #expect(await world.post("records/modify", operations(400)).status == 200)
    let many = await world.post("records/modify", operations(401))
    // Whoever sends too much is to send less, not to give up.
    #expect(many.status == 400 && many.text.contains("\"cloudErrorCode\":27"))
    let names = Array(repeating: #"{"recordName":"r"}"#, count: 401).joined(separator: ",")
    let lookup = #"{"zoneID":{"zoneName":"Notes"},"records":[\#(names)]}"#
    #expect(await world.post("records/lookup", lookup).text.contains("\"cloudErrorCode\":27"))
    let twice = #"{"zoneID":{"zoneName":"Notes"},"operations":[\#(one),\#(one)]}"#
    #expect(await world.post("records/modify", twice).status == 400)
    #expect(await world.post("records/modify", "").status == 405)
    #expect(await world.post("users/caller", "{}").status == 405)
    #expect(await world.post("records/unknown", "{}").status == 404)
    #expect(await world.post("records/modify", " ").status == 400)
    let zipped = await world.post("records/modify", "{}", headers: ["content-encoding": "gzip"])
    #expect(zipped.status == 415)
    let large = String(repeating: " ", count: 200_001)
    #expect(await world.post("records/modify", large).status == 413)
    let other = HTTPRequest(
      method: "POST",
      target: "/database/1/other/production/private/records/modify",
      headers: ["Authorization": "Bearer \(ServiceWorld.token("phone"))"]
    )
    #expect(await world.service.respond(to: other).status == 404)
  }

  @Test("66. Without a token, with a wrong one or a revoked one: 401, whatever is asked")
  func tokens() async throws {
    let world = try await world()
    world.tokens.revoke(token: ServiceWorld.token("pad"))
    var answers: Set<HTTPResponse> = []
    for (operation, device) in [
      ("records/modify", "stranger"), ("records/unknown", "stranger"), ("records/modify", "pad"),
    ] {
      answers.insert(await world.post(operation, Self.save, as: device))
    }
    #expect(answers.map(\.status) == [401])
    for header in [
      "", "Bearer ", "Basic \(ServiceWorld.token("phone"))", ServiceWorld.token("phone"),
    ] {
      let request = HTTPRequest(
        method: "POST",
        target: "/database/1/cloudsync/production/private/records/modify",
        headers: ["Authorization": header],
        body: Array(Self.save.utf8)
      )
      #expect(await world.service.respond(to: request).status == 401)
    }
    #expect(try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID) == [])
  }

  @Test("63. What belongs to another account is answered as what does not exist, byte for byte")
  func foreign() async throws {
    let world = try await world()
    _ = await world.post("records/modify", Self.save)
    _ = try world.client("mac", ServiceWorld.bob)
    func bob(_ operation: String, _ body: String) async -> HTTPResponse {
      await world.post(operation, body, as: "mac", ServiceWorld.bob)
    }
    for (operation, body) in [
      ("records/modify", Self.save),
      ("records/lookup", #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"}]}"#),
      ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#),
      ("zones/lookup", #"{"zones":[{"zoneName":"Notes"}]}"#),
      (
        "zones/modify",
        #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
      ),
      (
        "subscriptions/modify",
        #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
          + #""zoneID":{"zoneName":"Notes"}}}]}"#
      ),
    ] {
      let foreign = await bob(operation, body)
      let missing = await bob(operation, body.replacing("Notes", with: "Never"))
      #expect(foreign.status == missing.status)
      #expect(foreign.text.replacing("Notes", with: "Never") == missing.text)
      #expect(!foreign.text.contains("\"x\""))
    }
    #expect(try world.cloud.hasZone(ServiceWorld.zoneID, account: ServiceWorld.alice))
    #expect(await bob("zones/list", "").text == #"{"zones":[]}"#)
    #expect(await bob("changes/database", "{}").text.contains(#""zones":[]"#))

    // A stranger's sync token is as good as one that nobody was given.
    let page = await world.post("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
    let token = try #require(
      page.text.split(separator: #""syncToken":""#).last?.prefix { $0 != "\"" }
    )
    _ = await bob(
      "zones/modify",
      #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
    )
    func reply(_ token: some StringProtocol) async -> String {
      await bob(
        "changes/zone",
        #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}]}"#
      )
      .text
    }
    let foreign = await reply(token)
    #expect(foreign.contains("BAD_REQUEST"))
    #expect(await reply(String(token.reversed())) == foreign)
    #expect(await reply("no-token") == foreign)
  }

  @Test("64. Names of every kind are stored and returned, or refused; nothing else happens")
  func names() async throws {
    let world = try await world()
    let handler = try world.handler("phone")
    let names = [
      "'; DROP TABLE items", "a\u{0}b", String(repeating: "\u{7f}", count: 255), "../../etc/passwd",
      "%2e%2e%2f", "\\u0000", "\"}]}", " ",
    ]
    for (number, name) in names.enumerated() {
      let result = await handler.modify([note(name, ["x": 1])], token: UInt64(10 + number))
      #expect(try result.get().savedRecords.map(\.recordID.name) == [name])
      let recordID = RecordID(name: name, zoneID: ServiceWorld.zoneID)
      let found = await handler.fetch(FetchOperation(lookingUp: [recordID]))
      #expect(try found.get().changedRecords.map(\.recordID.name) == [name])
    }
    for (number, field) in (names + ["'; --", "../x", "a b", "é", ""]).enumerated() {
      let result = await handler.modify([note("f", [field: 1])], token: UInt64(50 + number))
      #expect(result.itemCodes == ["f": .invalidArguments])
    }
    for zone in names {
      let zoneID = ZoneID(name: zone)
      let inside = try world.handler("phone", zoneID: zoneID)
      #expect(try await inside.createZone(zoneID).get())
      let recordID = RecordID(name: "a", zoneID: zoneID)
      let edit = Record(recordType: "Note", recordID: recordID, fields: ["text": .string(zone)])
      #expect(try await inside.modify([edit], token: 1).get().savedRecords.count == 1)
      let found = try await inside.fetch().get().changedRecords
      #expect(found.map { $0["text"] } == [.string(zone)] && found.map(\.recordID) == [recordID])
    }
    let zones = try world.cloud.zones(account: ServiceWorld.alice).map(\.name)
    #expect(zones.count == names.count + 1 && Set(zones) == Set(names + ["Notes"]))
    #expect(
      try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID).count == 8
    )
  }

  @Test("The public and shared databases say that they are not there")
  func scopes() async throws {
    let world = try await world()
    for (scope, code) in [("public", "24"), ("shared", "26")] {
      let request = HTTPRequest(
        method: "POST",
        target: "/database/1/cloudsync/production/\(scope)/records/modify",
        headers: ["authorization": "Bearer \(ServiceWorld.token("phone"))"],
        body: Array(Self.save.utf8)
      )
      let response = await world.service.respond(to: request)
      #expect(response.text.contains("\"cloudErrorCode\":\(code)"))
    }
  }

  @Test("What the private database has is in no other one")
  func otherScopes() async throws {
    let world = try await world()
    _ = await world.post("records/modify", Self.save)
    for scope in ["public", "shared"] {
      for (operation, body) in [
        ("zones/list", ""), ("changes/database", "{}"),
        ("zones/lookup", #"{"zones":[{"zoneName":"Notes"}]}"#),
        ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#),
        ("records/lookup", #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"}]}"#),
        (
          "zones/modify",
          #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        ),
      ] {
        let request = HTTPRequest(
          method: body.isEmpty ? "GET" : "POST",
          target: "/database/1/cloudsync/production/\(scope)/\(operation)",
          headers: ["authorization": "Bearer \(ServiceWorld.token("phone"))"],
          body: Array(body.utf8)
        )
        let response = await world.service.respond(to: request)
        let isThere = response.text.contains("Notes") && !response.text.contains("cloudErrorCode")
        #expect(!isThere, "\(scope) \(operation): \(response.text)")
      }
    }
    #expect(try world.cloud.hasZone(ServiceWorld.zoneID, account: ServiceWorld.alice))
  }

  @Test("A store that is full or away, or does not know what it did: a status that passes, no path")
  func storeTroubles() async throws {
    let store = BrokenStore()
    let world = ServiceWorld(store: store)
    let handler = try world.handler("phone")
    for (code, status, expected) in [
      (LocalCloudStoreError.Code.full, 503, SyncError.Code.serviceUnavailable),
      (.cannotAccess, 503, .serviceUnavailable), (.outcomeUnknown, 504, .serverResponseLost),
    ] {
      store.error.withLock { $0 = LocalCloudStoreError(code, path: "/srv/x", "in /srv/x") }
      let response = await world.post("records/modify", Self.save)
      #expect(response.status == status && !response.text.contains("/srv"))
      #expect(await handler.modify([note("a")], token: 1).error?.code == expected)
    }
  }

  @Test("While the list of tokens is away, a request is told to come later: no device is shut out")
  func tokensAway() async throws {
    let service = CloudService(cloud: LocalCloud(), tokens: AwayTokens(), secret: [1])
    let path = "/database/1/cloudsync/production/private/users/caller"
    let headers: HTTPHeaders = ["Authorization": "Bearer any"]
    let request = HTTPRequest(method: "GET", target: path, headers: headers)
    #expect(await service.respond(to: request).status == 503)
    #expect(service.sender(of: request) == nil)
    // Where there is no token at all there is nothing to look for.
    #expect(await service.respond(to: HTTPRequest(method: "GET", target: path)).status == 401)
  }
}

/// Tokens that nobody can look for now.
private struct AwayTokens: ServiceTokens {
  func access(digest: [UInt8]) throws(SyncError) -> ServiceAccess? {
    throw SyncError(.serviceUnavailable, "the list is away")
  }
}

/// A store that fails.
private final class BrokenStore: LocalCloudStore {
  let error = Locked(LocalCloudStoreError(.full, "full"))

  func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value { throw error.withLock { $0 } }
}
