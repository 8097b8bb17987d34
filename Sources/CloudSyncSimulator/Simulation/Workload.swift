/// What the users do: first records, then edits that belong together, drawn from the seed.
struct Workload {
  /// Edits that one user makes together, some time after the ones before.
  struct Step {
    var gap: Duration
    var device: Int
    var edits: [DeviceEdit]
  }

  private let devices: Int
  private let total: Int
  private let names: Int
  private var random: SeededRandom
  private var made = 0
  private var number: Int64 = 0

  private static let fields = ["a", "b", "c"]
  /// So many records are edited all the time.
  private static let hotNames = 3

  init(_ options: SimulationOptions, random: SeededRandom) {
    devices = options.devices
    total = options.edits
    names = options.recordCount
    self.random = random
  }

  /// The records that all devices begin with.
  mutating func firstEdits() -> [DeviceEdit] {
    (0..<names / 2)
      .map { index in edit(name: index, change: .set(field: random.pick(Self.fields))) }
  }

  /// The next edits; nil when all are made.
  mutating func next() -> Step? {
    guard made < total else { return nil }
    let gap = gap()
    let device = random.below(devices)
    let isBurst = random.chance(1, in: 30)
    let wanted = isBurst ? random.within(1...max(1, names)) : 1
    let count = min(wanted, names, total - made)
    var chosen: [Int] = []
    while chosen.count < count {
      let name = count == 1 ? pickName() : random.below(names)
      // Each of another record: the next one that is free.
      var free = name
      while chosen.contains(free) { free = (free + 1) % names }
      chosen.append(free)
    }
    made += count
    let edits = chosen.map { name -> DeviceEdit in
      random.chance(1, in: 8)
        ? edit(name: name, change: .delete)
        : edit(name: name, change: .set(field: random.pick(Self.fields)))
    }
    return Step(gap: gap, device: device, edits: edits)
  }

  private mutating func gap() -> Duration {
    switch random.below(8) {
    case 0, 1, 2: .zero
    case 3, 4, 5: .milliseconds(random.below(2_000))
    case 6: .milliseconds(random.below(20_000))
    default: .milliseconds(random.below(120_000))
    }
  }

  private mutating func pickName() -> Int {
    random.chance(1, in: 2) ? random.below(min(Self.hotNames, names)) : random.below(names)
  }

  private mutating func edit(name: Int, change: DeviceEdit.Change) -> DeviceEdit {
    number += 1
    return DeviceEdit(number: number, name: "note-\(name)", change: change)
  }
}
