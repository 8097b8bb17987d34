import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Foundation
import Testing

/// Devices that edit the rows of one table, and migrate it in the same steps, each when it likes.
///
/// Every text is written once, and every addition is a bit of its own: the row says which edits are in it.
final class MigrationWorld {
  /// A step of the migration, which gives what an app sees another shape.
  enum Step: CaseIterable, Sendable {
    case renameText, renameCounter, renameTable, addText, addCounter, renameAdded, rebuild
    case renameTextByRebuild, renameCounterByRebuild, renameKey, renameTableByRebuild
  }

  /// What a version of the app calls its table and columns.
  struct Version {
    var table = "notes"
    var key = "id"
    var text = "a"
    var counter = "n"
    var addedText: String?
    var addedCounter: String?

    var columns: [String] { [text, counter] + [addedText, addedCounter].compactMap(\.self) }

    private func declaration(of column: String) -> String {
      let type = column == counter || column == addedCounter ? "INTEGER NOT NULL DEFAULT 0" : "TEXT"
      return "\(column) \(type)\(column == addedText ? " DEFAULT 'new'" : "")"
    }

    var declaration: String {
      (["\(key) TEXT PRIMARY KEY NOT NULL"] + columns.map(declaration)).joined(separator: ", ")
    }

    /// Makes the table anew with another name of a column.
    private mutating func rebuild(_ change: (inout Version) -> Void) -> String {
      let former = columns
      change(&self)
      return """
        CREATE TABLE fresh(\(declaration));
        INSERT INTO fresh(\(key), \(columns.joined(separator: ", ")))
          SELECT \(key), \(former.joined(separator: ", ")) FROM \(table);
        DROP TABLE \(table);
        ALTER TABLE fresh RENAME TO \(table)
        """
    }

    /// Makes the table anew under another name.
    private mutating func moveRows() -> String {
      let former = table
      table += "x"
      let list = ([key] + columns).joined(separator: ", ")
      return """
        CREATE TABLE \(table)(\(declaration));
        INSERT INTO \(table)(\(list)) SELECT \(list) FROM \(former);
        DROP TABLE \(former)
        """
    }

    private func renaming(_ old: String, to new: String) -> String {
      "ALTER TABLE \(table) RENAME COLUMN \(old) TO \(new)"
    }

    /// Takes a step; returns its statements.
    mutating func take(_ step: Step) -> String {
      let former = self
      switch step {
      case .renameText:
        text += "x"
        return former.renaming(former.text, to: text)
      case .renameCounter:
        counter += "x"
        return former.renaming(former.counter, to: counter)
      case .renameTable:
        table += "x"
        return "ALTER TABLE \(former.table) RENAME TO \(table)"
      case .addText:
        if addedText != nil { return "" }
        addedText = "c"
        return "ALTER TABLE \(table) ADD COLUMN \(declaration(of: "c"))"
      case .addCounter:
        if addedCounter != nil { return "" }
        addedCounter = "k"
        return "ALTER TABLE \(table) ADD COLUMN \(declaration(of: "k"))"
      case .renameAdded:
        guard let name = addedCounter else { return "" }
        addedCounter = name + "x"
        return former.renaming(name, to: name + "x")
      case .renameKey:
        key += "x"
        return former.renaming(former.key, to: key)
      case .renameTableByRebuild: return moveRows()
      case .rebuild: return rebuild { _ in }
      case .renameTextByRebuild: return rebuild { $0.text += "x" }
      case .renameCounterByRebuild: return rebuild { $0.counter += "x" }
      }
    }
  }

  private struct Row {
    var text: String
    var addedText = "new"
    var sum: Int64 = 0
    var addedSum: Int64 = 0
    var isDeleted = false
  }

  private let bench = SyncHarness()
  private let options: SyncEngineOptions
  private let steps: [Step]
  private var devices: [SyncHarness.Device] = []
  private var versions: [(version: Version, taken: Int)] = []
  private var rows: [String: Row] = [:]
  private var random: SplitMix64
  private var time: Int64 = 1_700_000_000_000
  private var number = 0
  /// What was done, for whoever looks for the cause of a failure.
  private(set) var done: [String] = []

  init(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var options = SyncEngineOptions()
    for name in ["n", "k"] {
      for count in 0..<5 {
        let column = name + String(repeating: "x", count: count)
        options.defaultTable.merging.columns[column] = .counter
      }
    }
    self.options = options
    let all = Step.allCases
    steps = (0..<(1 + random.below(3))).map { _ in all[random.below(all.count)] }
    let count = 2 + random.below(2)
    self.random = random
    let first = Version()
    for place in 0..<count {
      devices.append(
        try bench.device(
          ["mac", "phone", "pad"][place],
          "CREATE TABLE notes(\(first.declaration))",
          tables: ["notes"],
          options: options
        )
      )
      versions.append((first, 0))
    }
  }

  /// Lives through forty turns, migrates all devices, and tells what is wrong then.
  func run() throws -> [String] {
    for _ in 0..<40 {
      let place = random.below(devices.count)
      switch random.below(10) {
      case 0, 1, 2: try sync(place)
      case 3: try migrate(place)
      default: try edit(place)
      }
    }
    for place in devices.indices {
      while versions[place].taken < steps.count { try migrate(place) }
    }
    for _ in 0..<3 { for device in devices { try bench.sync(device) } }
    return try devices.flatMap(wrongs)
  }

  private func migrate(_ place: Int) throws {
    guard versions[place].taken < steps.count else { return }
    let sql = versions[place].version.take(steps[versions[place].taken])
    versions[place].taken += 1
    try bench.restart(devices[place], [versions[place].version.table], options, after: sql)
    done.append("\(devices[place].name): \(sql)")
    if random.below(3) == 0 { try sync(place) }
  }

  private func sync(_ place: Int) throws {
    done.append("\(devices[place].name): sync")
    try bench.sync(devices[place])
  }

  private func execute(_ sql: String, on device: SyncHarness.Device) throws {
    done.append("\(device.name): \(sql)")
    try device.execute(sql, at: time)
  }

  private func edit(_ place: Int) throws {
    let (device, version) = (devices[place], versions[place].version)
    time += 1_000
    number += 1
    let ids = try device.lines("SELECT \(version.key) FROM \(version.table) ORDER BY 1")
    let text = "t\(number)"
    if ids.isEmpty || random.below(6) == 0 {
      rows["r\(number)"] = Row(text: text)
      let columns = "\(version.key), \(version.text)"
      let sql = "INSERT INTO \(version.table)(\(columns)) VALUES('r\(number)', '\(text)')"
      return try execute(sql, on: device)
    }
    let id = String(ids[random.below(ids.count)].dropFirst().dropLast())
    guard var row = rows[id] else { return }
    var change: String
    switch random.below(9) {
    case 0, 1, 2:
      row.text = text
      change = "\(version.text) = '\(text)'"
    case 3, 4, 5:
      guard number < 62 else { return }
      row.sum += Int64(1) << Int64(number)
      change = "\(version.counter) = \(version.counter) + \(Int64(1) << Int64(number))"
    case 6:
      guard let column = version.addedText else { return }
      row.addedText = text
      change = "\(column) = '\(text)'"
    case 7:
      guard let column = version.addedCounter, number < 62 else { return }
      row.addedSum += Int64(1) << Int64(number)
      change = "\(column) = \(column) + \(Int64(1) << Int64(number))"
    default:
      if random.below(3) > 0 { return }
      row.isDeleted = true
      rows[id] = row
      return try execute("DELETE FROM \(version.table) WHERE \(version.key) = '\(id)'", on: device)
    }
    rows[id] = row
    let condition = "\(version.key) = '\(id)'"
    try execute("UPDATE \(version.table) SET \(change) WHERE \(condition)", on: device)
  }

  private func wrongs(of device: SyncHarness.Device) throws -> [String] {
    let version = versions[0].version
    let expected = rows.filter { !$0.value.isDeleted }.sorted { $0.key < $1.key }
      .map { id, row -> String in
        var values = ["'\(id)'", "'\(row.text)'", "\(row.sum)"]
        if version.addedText != nil { values.append("'\(row.addedText)'") }
        if version.addedCounter != nil { values.append("\(row.addedSum)") }
        return values.joined(separator: "|")
      }
    let list = ([version.key] + version.columns).joined(separator: ", ")
    let found = try device.lines("SELECT \(list) FROM \(version.table) ORDER BY 1")
    var wrongs = found == expected ? [] : ["\(device.name) has \(found), not \(expected)"]
    wrongs += try bench.unclean(device).map { "\(device.name): \($0)" }
    return wrongs.isEmpty ? [] : ["steps \(steps)"] + wrongs
  }
}
