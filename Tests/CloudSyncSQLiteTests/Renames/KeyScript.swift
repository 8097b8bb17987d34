import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// Devices that give rows other keys, again and again, without hearing of each other in between.
struct KeyScript {
  /// What a device does to rows, which are told by their labels: those have not got other ones.
  enum Step: Sendable, Hashable {
    /// Each row is given the key of the next one, through a key that is free.
    case rotate([Int], through: String)
    case rename(Int, to: String)
    /// A row is given a key that the device has taken from another one.
    case reuse(Int)
    case note(Int)
    /// All of a row is written over.
    case rewrite(Int)
    case insert(String)
    /// A new row is made with a key that the device has taken from another one.
    case insertAgain
    case delete(Int)
    /// The row that has a key which all devices use for new rows is given one of its own.
    case leaveShared(String, to: String)
  }

  /// What scripts are made of.
  enum Kind: Sendable, CaseIterable {
    /// Rows are given keys.
    case mild
    /// Some are deleted, or get keys that others had.
    case wild
    /// Some are inserted with keys that all devices use for new rows.
    case shared
  }

  enum Turn: Sendable, Hashable {
    case edit(device: Int, [Step], isOneTransaction: Bool)
    case sync(Int)
  }

  var devices: Int
  var rows: Int
  var turns: [Turn]
  var deletes = DeletePolicy.deleteWins

  /// A script of what a seed makes.
  init(seed: UInt64, kind: Kind) {
    var random = SplitMix64(seed: seed)
    devices = random.number(2...3)
    rows = random.number(2...4)
    turns = []
    var fresh = 0
    for _ in 0..<random.number(3...7) {
      let device = random.number(0...devices - 1)
      var steps: [Step] = []
      for _ in 0..<random.number(1...3) {
        let row = random.number(0...rows - 1)
        fresh += 1
        switch random.number(0...(kind == .mild ? 9 : 13)) {
        case 0..<4:
          let order = Array(0..<rows).shuffled(using: &random)
          let through = random.number(0...1) == 0 ? "t" : "t\(device)\(fresh)"
          steps.append(
            .rotate(Array(order.prefix(random.number(2...3))), through: through)
          )
        case 4, 5: steps.append(.rename(row, to: "f\(device)\(fresh)"))
        case 6, 7: steps.append(.reuse(row))
        case 8: steps.append(random.number(0...2) == 0 ? .rewrite(row) : .note(row))
        case 9: steps.append(.insert("i\(device)\(fresh)"))
        case 10...13 where kind == .shared:
          let key = "s\(random.number(0...1))"
          steps.append(.insert(key))
          if random.number(0...3) < 3 { steps.append(.leaveShared(key, to: "f\(device)\(fresh)")) }
        case 10, 11: steps.append(.insertAgain)
        default: steps.append(.delete(row))
        }
      }
      turns.append(.edit(device: device, steps, isOneTransaction: random.number(0...1) == 0))
      if random.number(0...9) < 4 {
        turns.append(.sync(random.number(0...devices - 1)))
      }
    }
    turns += Array(0..<devices).shuffled(using: &random).map { .sync($0) }
  }
}

extension SplitMix64 {
  fileprivate mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(below(UInt64(range.count)))
  }
}

/// A script while it is played.
final class KeyScriptRun {
  private static let start: Int64 = 1_700_000_000_000
  private let script: KeyScript
  private let bench = SyncHarness()
  private let devices: [SyncHarness.Device]
  private var model: KeyScriptModel
  private var time = KeyScriptRun.start
  /// The keys that each device has taken from rows.
  private var freed: [[String]]
  private var inserted = 0

  init(_ script: KeyScript) throws {
    self.script = script
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = script.deletes
    let bench = bench
    devices = try (0..<script.devices)
      .map { number in
        let schema = "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, label TEXT, note TEXT)"
        return try bench.device("device \(number)", schema, tables: ["p"], options: options)
      }
    freed = devices.map { _ in [] }
    model = KeyScriptModel(devices: script.devices)
    for row in 0..<script.rows {
      try devices[0].execute("INSERT INTO p VALUES('\(row)', 'L\(row)', 'n')", at: time)
    }
    try model.note(rows(of: 0), of: 0, at: time)
    for number in devices.indices { try sync(number) }
  }

  /// What is wrong in the end; nil if nothing is.
  func error() throws -> String? {
    for turn in script.turns {
      switch turn {
      case .sync(let number): try sync(number)
      case .edit(let number, let steps, let isOne):
        time += 60_000
        if isOne { try devices[number].execute("BEGIN", at: time) }
        for step in steps { try take(step, by: number, isOne: isOne) }
        if isOne { try devices[number].execute("COMMIT") }
      }
    }
    for _ in 0..<3 { for number in devices.indices { try sync(number) } }
    let kept = try rows(of: 0)
    for (number, device) in devices.enumerated() {
      if try rows(of: number) != kept {
        return "device \(number) has \(try rows(of: number)), not \(kept)"
      }
      let unclean = try bench.unclean(device)
      if unclean != [] { return "device \(number) is not clean: \(unclean)" }
    }
    return model.error(in: kept)
  }

  private func sync(_ number: Int) throws {
    try bench.sync(devices[number])
    model.sync(number)
    model.see(try rows(of: number), of: number)
  }

  private func rows(of number: Int) throws -> [KeyScriptModel.Row] {
    try devices[number].lines("SELECT id || ' ' || label || ' ' || note FROM p ORDER BY 1")
      .map { line in
        let parts = line.dropFirst().dropLast().split(separator: " ").map(String.init)
        return KeyScriptModel.Row(key: parts[0], label: parts[1], note: parts[2])
      }
  }

  private func take(_ step: KeyScript.Step, by number: Int, isOne: Bool) throws {
    let keys = Dictionary(
      try rows(of: number).map { ($0.label, $0.key) },
      uniquingKeysWith: { first, _ in first }
    )
    let free = freed[number].last { key in !keys.values.contains(key) }
    switch step {
    case .rotate(let labels, let through):
      let order = labels.compactMap { keys["L\($0)"] }
      guard order.count > 1, !keys.values.contains(through) else { return }
      try rename(order[0], to: through, by: number, isOne)
      for place in 1..<order.count {
        try rename(order[place], to: order[place - 1], by: number, isOne)
      }
      try rename(through, to: order[order.count - 1], by: number, isOne)
    case .rename(let label, let key):
      guard let former = keys["L\(label)"], !keys.values.contains(key) else { return }
      freed[number].append(former)
      try rename(former, to: key, by: number, isOne)
    case .reuse(let label):
      guard let former = keys["L\(label)"], let free else { return }
      freed[number].append(former)
      try rename(former, to: free, by: number, isOne)
    case .note(let label):
      inserted += 1
      try edit("UPDATE p SET note = 'n\(inserted)' WHERE label = 'L\(label)'", by: number, isOne)
    case .rewrite(let label):
      guard let key = keys["L\(label)"] else { return }
      inserted += 1
      let values = "'\(key)', 'L\(label)', 'n\(inserted)'"
      try edit("INSERT OR REPLACE INTO p VALUES(\(values))", by: number, isOne)
    case .insert(let key): try insert(key, by: number, isOne)
    case .insertAgain: if let free { try insert(free, by: number, isOne) }
    case .leaveShared(let key, let other):
      if keys.values.contains(key) { try rename(key, to: other, by: number, isOne) }
    case .delete(let label):
      guard let former = keys["L\(label)"] else { return }
      freed[number].append(former)
      try edit("DELETE FROM p WHERE label = 'L\(label)'", by: number, isOne)
    }
  }

  private func insert(_ key: String, by number: Int, _ isOne: Bool) throws {
    inserted += 1
    let values = "'\(key)', 'N\(inserted)', 'n'"
    try edit("INSERT OR IGNORE INTO p VALUES(\(values))", by: number, isOne)
  }

  private func rename(_ key: String, to other: String, by number: Int, _ isOne: Bool) throws {
    try edit("UPDATE p SET id = '\(other)' WHERE id = '\(key)'", by: number, isOne)
  }

  private func edit(_ sql: String, by number: Int, _ isOne: Bool) throws {
    if !isOne { time += 1_000 }
    try devices[number].execute(sql, at: isOne ? nil : time)
    try model.note(rows(of: number), of: number, at: time)
  }
}
