import Foundation
import Testing

@testable import CloudSyncCore

@Suite("ConflictResolver")
struct ConflictResolverTests {
  private let client = RecordFixtures.record(["a": 1, "b": 2], tag: "old", modified: 20)
  private let server = RecordFixtures.record(["a": 1, "b": 3, "s": 4], tag: "new", modified: 10)
  private let ancestor = RecordFixtures.record(["a": 0, "b": 0], tag: "old", modified: 5)

  private var conflict: Conflict {
    Conflict(client: client, server: server, ancestor: ancestor)
  }

  private func saved(_ resolver: ConflictResolver, _ conflict: Conflict) -> Record? {
    if case .save(let record) = resolver.resolve(conflict) { record } else { nil }
  }

  @Sendable private static func two(_ client: Record, _ server: Record) -> Record? { client }
  @Sendable private static func three(
    _ client: Record,
    _ server: Record,
    _ ancestor: Record?
  ) -> ConflictResolution? { .park }
  @Sendable private static func one(_ conflict: Conflict) -> ConflictResolution { .later }

  @Test("Closures and functions of one, two and three arguments make resolvers")
  func overloads() {
    let resolvers: [(ConflictResolver, ConflictResolution)] = [
      (ConflictResolver { client, server in nil }, .halt),
      (ConflictResolver { client, server, ancestor in nil }, .halt),
      (ConflictResolver { client, server, ancestor in .park }, .park),
      (ConflictResolver { _, _ in nil }, .halt),
      (ConflictResolver { _, _, _ in .later }, .later),
      (ConflictResolver { conflict in conflict.ancestor == nil ? .halt : .park }, .park),
      (ConflictResolver { _ in .later }, .later),
      (ConflictResolver(Self.three), .park),
      (ConflictResolver(Self.one), .later),
      (ConflictResolver(ConflictResolver { _, _, _ in .later }.resolve), .later),
    ]

    for (resolver, expected) in resolvers { #expect(resolver.resolve(conflict) == expected) }
    #expect(saved(ConflictResolver(Self.two), conflict)?["b"] == 2)
    #expect(saved(ConflictResolver { $1 }, conflict)?.fields.isEmpty == true)
    #expect(
      saved(
        ConflictResolver { client, server in
          var merged = server
          merged["b"] = client["b"]
          return merged
        },
        conflict
      )?
      .fields == [RecordField(name: "b", value: 2)]
    )
  }

  @Test("A record to save is reduced to what differs, and gets the server's tag")
  func resultIsReduced() throws {
    let resolver = ConflictResolver { client, server in
      var merged = server
      merged["b"] = 9
      merged["gone"] = .null
      return merged
    }

    let record = try #require(saved(resolver, conflict))

    #expect(record.fields == [RecordField(name: "b", value: 9)])
    #expect(record.changeTag == "new")
  }

  @Test("A field that the server encrypts stays encrypted in what is saved")
  func encryptionIsKept() throws {
    var conflict = conflict
    conflict.server.encryptedKeys = ["a", "b"]

    for resolver in [.client, .newest, .fieldwise(), ConflictResolver { client, _ in client }] {
      #expect(try #require(saved(resolver, conflict)).encryptedKeys == ["b"])
    }
  }

  @Test("A record with another identity halts the session")
  func foreignRecordHalts() {
    let resolver = ConflictResolver { client, server in
      Record(recordType: "Note", recordID: RecordFixtures.id("other"))
    }

    #expect(resolver.resolve(conflict) == .halt)
  }

  @Test("Client: the edit's fields over the server's; server: nothing is sent")
  func clientAndServer() throws {
    let mine = try #require(saved(.client, conflict))
    let theirs = try #require(saved(.server, conflict))

    #expect(mine.fields == [RecordField(name: "b", value: 2)])
    #expect(mine.changeTag == "new")
    #expect(mine.modificationDate == client.modificationDate)
    #expect(theirs.fields.isEmpty)
    #expect(theirs.changeTag == "new")
    #expect(server.contains(edit: theirs))
  }

  @Test(
    "Newest: the later date wins as a whole; in a tie or without a date the server does",
    arguments: [
      (20, 10, true), (10, 20, false), (10, 10, false), (nil, 10, false), (10, nil, false),
      (nil, nil, false),
    ] as [(Int64?, Int64?, Bool)]
  )
  func newest(mine: Int64?, theirs: Int64?, clientWins: Bool) throws {
    var conflict = conflict
    conflict.client.modificationDate = mine.map { Timestamp(nanoseconds: $0) }
    conflict.server.modificationDate = theirs.map { Timestamp(nanoseconds: $0) }

    let record = try #require(saved(.newest, conflict))

    #expect(record.fields == (clientWins ? [RecordField(name: "b", value: 2)] : []))
    #expect(record.changeTag == "new")
  }

  @Test("Conflicts and resolutions survive JSON and bytes exactly")
  func codedForms() throws {
    try expectRoundTrips(conflict)
    try expectRoundTrips(Conflict(client: client, server: server))
    for resolution in [.save(client), .park, .later, .halt] as [ConflictResolution] {
      try expectRoundTrips(resolution)
    }
  }
}
