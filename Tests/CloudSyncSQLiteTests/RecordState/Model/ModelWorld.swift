import CloudSyncSimulator

extension Model {
  /// Numbers drawn from a seed.
  struct Generator {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func below(_ limit: Int) -> Int { random.below(limit) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  }

  /// A random script of three devices, three rows and one cloud.
  struct World {
    private var generator: Generator
    private(set) var cloud = Cloud()
    private(set) var devices: [Device]
    private let rules: Rules
    private let numbers = Numbers()
    private let purges: Bool
    private let losesZones: Bool
    private var wall = 0
    private var value = 0
    /// The join of every state that an edit has made: what all must end with.
    private(set) var truth: [Int: RowState] = [:]
    private(set) var hasPurged = false
    /// When a key was inserted and deleted last: it must live if the insertion came later.
    private(set) var inserted: [Int: Int] = [:]
    private(set) var deleted: [Int: Int] = [:]
    /// Keys that two devices have inserted without knowing of each other: whether edits of the older row
    /// outlive its deletion depends on whether the two have met before.
    private(set) var doubled: Set<Int> = []
    /// Keys whose records somebody else has removed: then only all must agree.
    private(set) var removed: Set<Int> = []
    /// What was added to a key that nobody has deleted, and who set its column 1 last.
    private(set) var added: [Int: Int] = [:]
    private(set) var wasDeleted: Set<Int> = []
    private(set) var authors: [Int: Set<Int>] = [:]
    private(set) var last: [Int: Int] = [:]
    private(set) var isMixed = false
    private(set) var dead: Int?
    private var isCopied = false
    private var active = 3
    private var backup: Device?

    static let columns = 2
    static let keys = 3
    /// Who is noted to have made a row that was there before the first fetch.
    static let finder = 7

    init(seed: UInt64) {
      var generator = Generator(seed: seed)
      purges = seed % 3 == 0
      losesZones = seed % 2 == 0 && !purges
      var rules = Rules()
      rules.editWins = generator.chance(25)
      rules.serverFirst = generator.chance(20) && !rules.editWins
      rules.comesLate = generator.chance(40)
      self.rules = rules
      let numbers = numbers
      devices = (0..<3).map { Device(id: $0, rules: rules, numbers: numbers) }
      self.generator = generator
      begin()
    }

    private mutating func begin() {
      if generator.chance(20) {
        devices[1].knows = 1
        isMixed = true
      }
      if generator.chance(30) {
        for device in 0..<3 {
          for key in 0..<Self.keys where generator.chance(60) {
            devices[device].find(key, devices[device].knows, &value)
            note(device)
            authors[key, default: []].insert(Self.finder)
          }
        }
      } else if generator.chance(30) {
        active = 2
      }
    }

    /// Runs the whole script; returns what is wrong in the end.
    mutating func run() -> String? {
      for _ in 0..<(40 + generator.below(160)) {
        step()
        if let difference { return difference }
      }
      return settle() ?? difference ?? check()
    }

    /// Where the real machine first did otherwise than the model.
    private var difference: String? {
      for device in devices {
        for key in 0..<Self.keys {
          if let difference = device.machines[key]?.difference {
            return "device \(device.id), key \(key): \(difference)"
          }
        }
      }
      return nil
    }

    private mutating func note(_ device: Int) {
      for (key, row) in devices[device].rows where row.isDirty {
        truth[key] = truth[key]?.joined(with: row.local) ?? row.local
      }
    }

    /// Whether the join of all edits has some of them twice: a copy goes on under another number.
    var countsTwice: Bool { isCopied || numbers.last > 9 }

    private mutating func ask(_ device: Int, purges: Bool) {
      if devices[device].answer != nil || device == dead { return }
      if !devices[device].isZoneReady {
        devices[device].answer = cloud.createZone()
        return
      }
      let doomed = devices[device].purgeable(wall)
      if !doomed.isEmpty, generator.chance(30) {
        devices[device].beginPurging(doomed)
        devices[device].answer = cloud.delete(doomed)
        return
      }
      let items = devices[device].sendable(limit: 1 + generator.below(3), wall: wall)
      if !items.isEmpty, generator.chance(60) {
        devices[device].answer = cloud.save(items)
      } else if purges, generator.chance(60), let key = tombstone(of: device) {
        hasPurged = true
        devices[device].mark(key, wall)
      } else {
        let limit = 1 + generator.below(3)
        devices[device].answer = cloud.page(after: devices[device].token, limit: limit)
      }
    }

    private func tombstone(of device: Int) -> Int? {
      devices[device].rows
        .filter { _, row in
          let isFree = row.base?.purger.map { wall - $0.since > Model.lease } ?? true
          return !row.isDirty && row.local.isDeleted && isFree
        }
        .keys.min()
    }

    private mutating func step() {
      let device = generator.below(active)
      if active == 2, generator.chance(2) {
        devices[2] = devices[0].copied(as: 2)
        (active, isCopied) = (3, true)
      }
      if device == dead { return }
      if purges, dead == nil, active == 3, generator.chance(1), isClean(2) {
        dead = 2
        return
      }
      if isMixed, generator.chance(1) {
        devices[1].knows = 2
        for key in 0..<Self.keys { devices[1].complete(key) }
      }
      if device == 0 { keepBackup() }
      wall += generator.below(3)
      act(device)
      note(device)
    }

    private func isClean(_ device: Int) -> Bool {
      devices[device].rows.values.allSatisfy { !$0.isDirty }
    }

    /// A backup of the whole file, put back when all that was written since is in the cloud.
    private mutating func keepBackup() {
      if backup == nil, active == 3, !isCopied, !purges, !losesZones, generator.chance(5),
        isClean(0)
      {
        backup = devices[0]
      }
      guard let backup, generator.chance(20), isClean(0) else { return }
      devices[0] = backup
      devices[0].crash()
      isCopied = true
    }

    private mutating func act(_ device: Int) {
      let key = generator.below(Self.keys)
      // Clocks are wrong.
      let now = wall + [0, 5, -5][device]
      switch generator.below(100) {
      case 0..<9: insert(key, device, now)
      case 9..<22:
        let (name, before) = (generator.below(devices[device].knows), value)
        devices[device].update(key, name, now, &value)
        if name == 1, value > before {
          authors[key, default: []].insert(device)
          last[key] = value
        }
      case 22..<30:
        let amount = 1 + generator.below(2)
        if devices[device].add(key, amount, now) { added[key, default: 0] += amount }
      case 30..<36:
        wasDeleted.insert(key)
        devices[device].delete(key, now)
        if let row = devices[device].rows[key] {
          deleted[key] = max(deleted[key] ?? 0, row.local.deleted)
        }
      case 36..<64: ask(device, purges: purges)
      case 64..<90: devices[device].deliver(splits: generator.chance(20))
      case 90..<92: devices[device].answer = nil
      case 92..<95: devices[device].crash()
      case 95:
        if losesZones { cloud.loseZone() }
        if !losesZones, !purges, generator.chance(30), cloud.zone != 0 {
          _ = cloud.delete([key])
          removed.insert(key)
        }
      case 96: cloud.expireTokens()
      default:
        // Repeated by the network: the first copy is executed, and then the second.
        let items = devices[device].sendable(limit: 2, wall: wall)
        if devices[device].answer == nil, devices[device].isZoneReady, !items.isEmpty {
          _ = cloud.save(items)
          devices[device].answer = cloud.save(items)
        }
      }
    }

    private mutating func insert(_ key: Int, _ device: Int, _ now: Int) {
      let isThere = devices.contains { $0.rows[key].map { !$0.local.isDeleted } ?? false }
      let wasThere = devices[device].rows[key].map { !$0.local.isDeleted } ?? false
      if isThere, !wasThere { doubled.insert(key) }
      devices[device].insert(key, devices[device].knows, now, &value)
      if !wasThere {
        authors[key, default: []].insert(device)
        last[key] = value
      }
      if let row = devices[device].rows[key] {
        inserted[key] = max(inserted[key] ?? 0, row.local.created)
      }
    }

    private mutating func settle() -> String? {
      for round in 0..<400 {
        wall += 4
        for device in 0..<3 where device != dead {
          devices[device].deliver()
          note(device)
          ask(device, purges: false)
          devices[device].deliver()
          note(device)
        }
        if round > 40, devices.indices.allSatisfy({ $0 == dead || isAtRest(devices[$0]) }) {
          return nil
        }
      }
      return difference ?? "does not settle"
    }

    private func isAtRest(_ device: Device) -> Bool {
      device.answer == nil && device.held.isEmpty && device.sweep == nil
        && device.token?.zone == cloud.zone && device.token?.place ?? 0 >= cloud.log.last?.tag ?? 0
        && device.rows.values.allSatisfy { !$0.isDirty }
    }
  }
}
