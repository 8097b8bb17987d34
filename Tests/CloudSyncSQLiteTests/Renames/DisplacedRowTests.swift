import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Rows whose keys others have got on other devices, and that cannot go back to keys which they had before.
@Suite("Rows that are in no table because others have their keys")
struct DisplacedRowTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let all = "SELECT id, hex(t) FROM p ORDER BY id"

  private typealias Bench = (SyncHarness, devices: [SyncHarness.Device])

  private func bench(
    count: Int,
    options: (Int) -> SyncEngineOptions = { _ in SyncEngineOptions() },
    in bench: SyncHarness = SyncHarness()
  ) throws -> Bench {
    let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t BLOB)"
    let devices = try (0..<count)
      .map { try bench.device("d\($0)", schema, tables: ["p"], options: options($0)) }
    let rows = (0..<count).map { "('\($0)', x'0\($0)')" }.joined(separator: ", ")
    try devices[0].execute("INSERT INTO p VALUES\(rows)", at: Self.start)
    for device in devices { try bench.sync(device) }
    return (bench, devices)
  }

  /// Has a device give its row the key that others give to theirs, and make another one under the former key.
  private func give(_ number: Int, of devices: [SyncHarness.Device]) throws {
    let sql = """
      UPDATE p SET id = 'k' WHERE id = '\(number)'; INSERT INTO p VALUES('\(number)', x'1\(number)')
      """
    try devices[number].execute(sql, at: Self.start + Int64(number + 1) * 60_000)
  }

  private func syncAll(_ bench: SyncHarness, _ devices: [SyncHarness.Device]) throws {
    for device in devices + devices { try bench.sync(device) }
  }

  @Test("Of three rows that get one key none is lost: they come back one after the other")
  func three() throws {
    let (bench, devices) = try bench(count: 3)
    for number in devices.indices { try give(number, of: devices) }
    try syncAll(bench, devices)
    for device in devices {
      #expect(
        try device.lines(Self.all) == ["'0'|'10'", "'1'|'11'", "'2'|'12'", "'k'|'02'"],
        "\(device.name)"
      )
    }
    let lists = try devices.map { try bench.displaced($0) }
    #expect(lists.contains(["'k'", "'k'"]), "\(lists)")
    for (number, next) in [(2, "'01'"), (1, "'00'")] {
      let time = Self.start + Int64(600 + number) * 60_000
      try devices[number].execute("DELETE FROM p WHERE id = 'k'", at: time)
      try syncAll(bench, devices)
      for device in devices {
        #expect(try device.lines("SELECT hex(t) FROM p WHERE id = 'k'") == [next], "\(device.name)")
      }
    }
    for device in devices { #expect(try bench.displaced(device) == []) }
  }

  @Test(
    "Each device that has had the row lists it, and whichever does has it come back",
    arguments: SuiteSize.some(2, of: [[], [1], [1, 2]])
  )
  func status(told: [Int]) throws {
    let (bench, devices) = try bench(count: 3)
    // It is on its own device alone, or was sent, or another one has it as well.
    try devices[1].execute("INSERT INTO p VALUES('k', x'55')", at: Self.start + 60_000)
    for number in told { try bench.sync(devices[number]) }
    try devices[0].execute("UPDATE p SET id = 'k' WHERE id = '0'", at: Self.start + 120_000)
    try syncAll(bench, [devices[0], devices[2], devices[1]])
    // Whoever gives its row the key meets the other one in the cloud.
    let knowing = told.isEmpty ? [1] : [0] + told
    for (number, device) in devices.enumerated() {
      #expect(try device.lines("SELECT hex(t) FROM p WHERE id = 'k'") == ["'00'"])
      #expect(
        try bench.displaced(device) == (knowing.contains(number) ? ["'k'"] : []),
        "\(device.name)"
      )
    }
    try devices[2].execute("DELETE FROM p WHERE id = 'k'", at: Self.start + 180_000)
    try syncAll(bench, devices.reversed())
    for device in devices {
      #expect(try device.lines("SELECT hex(t) FROM p WHERE id = 'k'") == ["'55'"], "\(device.name)")
      #expect(try bench.displaced(device) == [] && bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test("One device keeps all of them when the others are gone")
  func lastDevice() throws {
    let (bench, devices) = try bench(count: 3)
    let last = devices[0]
    for number in devices.indices { try give(number, of: devices) }
    try bench.sync(last, devices[1], last)
    try bench.sync(devices[2], last)
    for (number, next) in ["'01'", "'00'"].enumerated() {
      let time = Self.start + Int64(600 + number) * 60_000
      try last.execute("DELETE FROM p WHERE id = 'k'", at: time)
      try bench.sync(last)
      #expect(try last.lines("SELECT hex(t) FROM p WHERE id = 'k'") == [next])
    }
    #expect(try bench.displaced(last) == [])
  }

  @Test("A lost zone does not take them along")
  func lostZone() throws {
    let (bench, devices) = try bench(count: 2)
    for number in devices.indices { try give(number, of: devices) }
    try syncAll(bench, devices)
    #expect(try bench.displaced(devices[0]) == ["'k'"])

    try bench.deleteZone()
    try syncAll(bench, devices)
    #expect(try bench.displaced(devices[0]) == ["'k'"])
    try devices[0].execute("DELETE FROM p WHERE id = 'k'", at: Self.start + 6_000_000)
    try syncAll(bench, devices)
    for device in devices {
      #expect(try device.lines("SELECT hex(t) FROM p WHERE id = 'k'") == ["'00'"])
    }
  }

  /// Devices whose BLOBs are files, each with a row of its own.
  private func bench(
    count: Int,
    filesIn folder: TestFolder,
    in bench: SyncHarness? = nil
  ) throws -> Bench {
    try self.bench(
      count: count,
      options: { number in
        var options = SyncEngineOptions()
        options.assets = AssetOptions(folder: "\(folder.path)/\(number)", threshold: 1_000)
        return options
      },
      in: bench ?? SyncHarness(assetFolder: folder.path + "/cloud")
    )
  }

  @Test("A row that goes back to its former key takes along a large BLOB that nobody else has")
  func assetsGoBack() throws {
    let folder = try TestFolder("back")
    let harness = SyncHarness(assetFolder: folder.path + "/cloud")
    let edit = Locked<(@Sendable () throws -> Void)?>(nil)
    harness.handler = { InterruptedFetches(base: $0, edit: edit) }
    let (bench, devices) = try bench(count: 2, filesIn: folder, in: harness)
    let (device, other) = (devices[0], devices[1])
    try other.execute("UPDATE p SET id = 'k' WHERE id = '1'", at: Self.start + 120_000)
    try bench.sync(other)
    try device.execute("UPDATE cloudsync_clock SET fixed = \(Self.start + 60_000)")
    // What is edited while a page is on its way is read in the transaction that stores the page.
    edit.withLock { edit in
      edit = { [database = device.database] in
        try database.execute("UPDATE p SET id = 'k', t = zeroblob(3000) WHERE id = '0'")
      }
    }
    device.engine.fetchChanges()
    bench.world.advance(by: .seconds(30))
    #expect(edit.withLock { $0 == nil })
    try syncAll(bench, devices)
    for device in devices {
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(
        try device.lines("SELECT id, length(t) FROM p ORDER BY id") == ["'0'|3000", "'k'|1"],
        "\(device.name)"
      )
    }
  }

  @Test("Their large BLOBs come back with them")
  func assets() throws {
    let folder = try TestFolder("displaced")
    let (bench, devices) = try bench(count: 2, filesIn: folder)
    try devices[0].execute("UPDATE p SET t = zeroblob(3000) WHERE id = '0'", at: Self.start + 1_000)
    try syncAll(bench, devices)
    for number in devices.indices { try give(number, of: devices) }
    try syncAll(bench, devices)
    #expect(try bench.displaced(devices[0]) == ["'k'"])

    try devices[0].execute("DELETE FROM p WHERE id = 'k'", at: Self.start + 600_000)
    try syncAll(bench, devices)
    for device in devices {
      #expect(try device.lines("SELECT length(t) FROM p WHERE id = 'k'") == ["3000"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What is edited of one is not lost when another device has put it back")
  func putBack() throws {
    let (bench, devices) = try bench(count: 3)
    try devices[0].execute("UPDATE p SET id = 'k' WHERE id = '0'", at: Self.start + 60_000)
    try bench.sync(devices[0], devices[2])
    // One edits the row, and another gives its key to its own, before they hear of each other.
    try devices[2].execute("UPDATE p SET t = x'55' WHERE id = 'k'", at: Self.start + 90_000)
    try devices[1].execute("UPDATE p SET id = 'k' WHERE id = '1'", at: Self.start + 120_000)
    try syncAll(bench, [devices[1], devices[0], devices[2]])
    for device in devices {
      #expect(try device.lines(Self.all).contains { $0.hasSuffix("|'55'") }, "\(device.name)")
      #expect(try bench.unclean(device) == [] && bench.displaced(device) == [], "\(device.name)")
    }
  }

  /// A key script, of seed 1436.
  @Test(
    "One that goes back to a key where another row was deleted since gives way to a row that was given it before that"
  )
  func deletedSince() throws {
    let (bench, devices) = try bench(count: 3)
    func move(_ keys: [(String, String)], by number: Int, at minute: Int64) throws {
      let steps = keys.map { "UPDATE p SET id = '\($1)' WHERE id = '\($0)'" }
      try devices[number]
        .execute(steps.joined(separator: "; "), at: Self.start + minute * 60_000)
    }
    try devices[0].execute("INSERT INTO p VALUES('3', x'03')", at: Self.start)
    try syncAll(bench, devices)
    try move([("2", "t"), ("0", "2"), ("1", "0"), ("t", "1")], by: 1, at: 1)
    try move([("1", "t"), ("0", "1"), ("t", "0")], by: 0, at: 2)
    try devices[2].execute("DELETE FROM p WHERE id = '1'", at: Self.start + 180_000)
    try move([("3", "t"), ("0", "3"), ("t", "0")], by: 2, at: 4)
    for number in [2, 0, 1, 2, 0, 1] { try bench.sync(devices[number]) }
    for device in devices {
      #expect(try device.lines(Self.all) == ["'0'|'03'", "'1'|'02'", "'3'|'00'"], "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "What somebody has edited under a former key reaches one that has lost its new key meanwhile"
  )
  func handed() throws {
    let (bench, devices) = try bench(count: 3)
    try give(1, of: devices)
    try bench.sync(devices[1], devices[2])
    try devices[2].execute("UPDATE p SET t = x'55' WHERE id = '0'", at: Self.start + 150_000)
    try give(0, of: devices)
    try bench.sync(devices[0], devices[2])
    #expect(try bench.displaced(devices[2]) == ["'k'"])
    try devices[0].execute("DELETE FROM p WHERE id = 'k'", at: Self.start + 600_000)
    try syncAll(bench, devices)
    for device in devices {
      #expect(try device.lines("SELECT hex(t) FROM p WHERE id = 'k'") == ["'55'"], "\(device.name)")
      #expect(try bench.unclean(device) == [] && bench.displaced(device) == [], "\(device.name)")
    }
  }
}

/// Has somebody edit a database while a fetch is on its way.
private struct InterruptedFetches: WorkHandler {
  let base: any OperationHandler
  let edit: Locked<(@Sendable () throws -> Void)?>

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .fetch = work {
      let edit = edit.withLock { edit in
        defer { edit = nil }
        return edit
      }
      #expect(throws: Never.self) { try edit?() }
    }
    base.perform(work, context: context, completion: completion)
  }
}
