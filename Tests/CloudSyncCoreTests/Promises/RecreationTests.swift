import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// A record that has to be made anew takes fields along that the app gave and did not edit; they are no edits of its.
@Suite("Records that are made anew")
struct RecreationTests {
  private static let purged = SyncError(.userDeletedZone)

  private static func record(_ a: Int64, _ b: Int64, tag: String?) -> Record {
    SessionHarness.record("r", ["a": .int64(a), "b": .int64(b)], tag: tag)
  }

  /// Edits a whole record that the app knows.
  private static func edit(
    _ a: Int64,
    _ b: Int64,
    from known: Record,
    in bench: CloudHarness
  ) throws {
    try bench.session.modify(
      ModifyOperation(records: [record(a, b, tag: known.changeTag)], ancestors: [known])
    )
  }

  /// A session with an edit of `a` from 1 to 2 of a record with `b` 5, whose zone is lost before it is sent.
  private func asked(
    _ configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .client
  ) throws -> (CloudHarness, known: Record) {
    let bench = CloudHarness(configuration: configuration, resolver: resolver)
    bench.cloud.save(Self.record(1, 5, tag: nil))
    bench.start()
    bench.session.fetch()
    bench.world.runToEnd()
    let known = try #require(bench.cloud["r"])
    bench.cloud.loseZone(Self.purged)
    try Self.edit(2, 5, from: known, in: bench)
    bench.world.advance(by: .seconds(60))
    return (bench, known)
  }

  @Test("In a zone that is new the record has all its fields")
  func isWhole() throws {
    let (bench, _) = try asked()
    bench.session.decideZone(.recreate)
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["a"] == 2)
    #expect(bench.cloud["r"]?["b"] == 5)
    #expect(bench.wrongs == [])
  }

  @Test(
    "Where another device has made it anew before, its fields stay",
    arguments: [true, false]
  )
  func leavesOthers(isFieldwise: Bool) throws {
    let resolver = isFieldwise ? ConflictResolver.fieldwise(default: .client) : .client
    let (bench, _) = try asked(resolver: resolver)
    bench.cloud.createZone()
    bench.cloud.save(Self.record(1, 9, tag: nil))
    bench.session.decideZone(.recreate)
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["a"] == 2)
    #expect(bench.cloud["r"]?["b"] == 9)
    #expect(bench.wrongs == [])
  }

  @Test("An amount is added to what another device has made anew, once")
  func addsOnce() throws {
    let policy = ConflictResolver.fieldwise(["a": .counterSum], default: .client)
    let (bench, _) = try asked(resolver: policy)
    bench.cloud.createZone()
    bench.cloud.save(Self.record(7, 5, tag: nil))
    bench.session.decideZone(.recreate)
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["a"] == 8)
  }

  @Test("An edit of a record that is gone leaves the fields of a device that makes it anew before")
  func leavesThoseOfDeleted() throws {
    let other = Locked<StubCloud?>(nil)
    let saves = Locked(0)
    let bench = CloudHarness { _, work in
      guard case .modify = work else { return nil }
      let isSecond = saves.withLock { saves in
        saves += 1
        return saves == 2
      }
      if isSecond { other.withLock { $0 }?.save(Self.record(1, 9, tag: nil)) }
      return nil
    }
    other.withLock { $0 = bench.cloud }
    bench.cloud.save(Self.record(1, 5, tag: nil))
    bench.start()
    let known = try #require(bench.cloud["r"])
    bench.cloud.remove(known.recordID)
    try Self.edit(2, 5, from: known, in: bench)
    bench.world.runToEnd()
    other.withLock { $0 = nil }

    #expect(bench.cloud["r"]?["a"] == 2)
    #expect(bench.cloud["r"]?["b"] == 9)
  }

  @Test("The second edit of a device leaves its first, where refused ones are handed back")
  func keepsOwn() throws {
    var configuration = SyncConfiguration()
    configuration.refusedItems = .handBack
    // Each is sent by itself.
    configuration.limits = RequestLimits(items: 1)
    let (bench, known) = try asked(configuration)
    try Self.edit(1, 6, from: known, in: bench)
    bench.session.decideZone(.recreate)
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["a"] == 2)
    #expect(bench.cloud["r"]?["b"] == 6)
  }
}
