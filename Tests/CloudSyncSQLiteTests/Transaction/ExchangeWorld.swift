import CloudSyncCore
import CloudSyncSQLiteSupport

@testable import CloudSyncSQLite

/// Databases that meet in a cloud of records, without a session: rows, transactions and the format alone.
struct ExchangeWorld {
  private var generator: Model.Generator
  private(set) var devices: [ExchangeDevice] = []
  private(set) var cloud = ExchangeCloud()
  private let deletes: DeletePolicy
  private let losesZones: Bool
  private var wall: Int64 = 1
  /// What was added to each row's counter, as long as nobody has deleted it.
  private(set) var added: [String: Int64] = [:]
  private(set) var wasDeleted: Set<String> = []
  /// Rows whose records somebody has removed: then only all must agree.
  private(set) var wasRemoved: Set<String> = []
  /// The join of all versions that edits have made.
  private(set) var truth: [String: RecordVersion] = [:]

  static let keys = ["a", "b", "c"]

  init(seed: UInt64) throws {
    generator = Model.Generator(seed: seed)
    deletes = generator.chance(30) ? .editWins : .deleteWins
    losesZones = seed % 2 == 0
    for number in 1...3 {
      devices.append(try ExchangeDevice(number: Int64(number), deletes: deletes))
    }
  }

  mutating func run() throws {
    for _ in 0..<(40 + generator.below(80)) { try step() }
    for device in devices.indices {
      try devices[device].readEdits()
      try note(device)
    }
    for round in 0..<200 {
      for device in devices.indices {
        try devices[device].deliver(from: cloud)
        try devices[device].send(to: &cloud, limit: 3)
        try devices[device].deliver(from: cloud)
        try devices[device].fetch(from: cloud, limit: 3)
      }
      if round > 10, try devices.allSatisfy({ try $0.isAtRest(cloud) }) { return }
    }
  }

  private mutating func step() throws {
    let device = generator.below(3)
    let key = Self.keys[generator.below(3)]
    wall += Int64(generator.below(4))
    let now = max(1, wall + [0, 6, -6][device])
    switch generator.below(100) {
    case 0..<2:
      let name = ["x", "y", "z"][generator.below(3)]
      try devices[device]
        .execute(
          "INSERT INTO lists VALUES('\(name)', 'list \(now)') ON CONFLICT DO NOTHING",
          at: now
        )
    case 2..<10:
      try devices[device]
        .execute(
          """
          INSERT INTO notes VALUES('\(key)', \(text()), '[]', 0, (SELECT max(id) FROM lists))
          ON CONFLICT DO NOTHING
          """,
          at: now
        )
    case 10..<20:
      try devices[device].execute("UPDATE notes SET title = \(text()) WHERE id = '\(key)'", at: now)
    case 20..<30:
      let tags = "[\(generator.below(5))]"
      try devices[device].execute("UPDATE notes SET tags = '\(tags)' WHERE id = '\(key)'", at: now)
    case 30..<38:
      let amount = Int64(1 + generator.below(3))
      if try devices[device].has(key) { added[key, default: 0] += amount }
      try devices[device].execute("UPDATE notes SET n = n + \(amount) WHERE id = '\(key)'", at: now)
    case 38..<42:
      wasDeleted.insert(key)
      try devices[device].execute("DELETE FROM notes WHERE id = '\(key)'", at: now)
    case 42..<44:
      wasDeleted.insert(key)
      let row = "'\(key)', \(text()), '[7]', 0, NULL"
      try devices[device].execute("REPLACE INTO notes VALUES(\(row))", at: now)
    case 44..<66: try devices[device].send(to: &cloud, limit: 1 + generator.below(3))
    case 66..<80: try devices[device].deliver(from: cloud)
    case 80..<94: try devices[device].fetch(from: cloud, limit: 1 + generator.below(3))
    case 94..<96: devices[device].loseResponse()
    case 96: cloud.expireTokens()
    case 97:
      if losesZones { cloud.loseZone() }
    case 98:
      if !losesZones, generator.chance(50) {
        cloud.remove("\(key):notes")
        wasRemoved.insert(key)
      }
    default: devices[device].crash()
    }
    try note(device)
  }

  /// A value of any kind, so that some lie beside their columns' own fields.
  private mutating func text() -> String {
    let number = generator.below(1_000)
    switch generator.below(6) {
    case 0: return "NULL"
    case 1: return "\(number)"
    case 2: return "x'0\(number % 10)'"
    default: return "'t\(number)'"
    }
  }

  private mutating func note(_ device: Int) throws {
    // What is not read yet is read by and by.
    if generator.chance(50) { try devices[device].readEdits() }
    let join = RecordJoin(deletes: deletes)
    for key in Self.keys {
      guard let state = try devices[device].state(of: key), state.isDirty, let row = state.row
      else { continue }
      truth[key] = truth[key].map { join.join($0, with: row) } ?? row
    }
  }

  /// What is wrong in the end; nil if all is well.
  func fault() throws -> String? {
    for device in devices where try !device.isAtRest(cloud) {
      return "device \(device.number) has not come to rest: \(try device.unsettled())"
    }
    let rows = try devices.map { try $0.rows() }
    if rows[1] != rows[0] || rows[2] != rows[0] { return "the tables differ: \(rows)" }
    for key in Self.keys {
      let states = try devices.map { try $0.state(of: key)?.row }
      let living = states.compactMap { $0 }.filter { !$0.clock.isDeleted }
      if living.isEmpty { continue }
      if living.count < 3 || Set(living).count > 1 { return "row \(key) differs: \(states)" }
      if wasDeleted.contains(key) || wasRemoved.contains(key) { continue }
      if let truth = truth[key], living[0].created == truth.created {
        for column in ["title"] where truth[column] != living[0][column] {
          return "row \(key): an edit is lost: \(living[0]), not \(truth)"
        }
      }
      if living[0].counterSum(of: "n") != .whole(added[key] ?? 0) {
        return "row \(key): counted \(living[0]), not \(added[key] ?? 0)"
      }
    }
    return nil
  }
}
