import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What a device does with a row that all have, and with its children.
enum RenameStep: String, CaseIterable, Sendable {
  case rename, renameOtherwise, editFirst, editSecond, delete, insertChild, editChild

  func sql(by device: Int) -> String {
    switch self {
    case .rename: "UPDATE lists SET id = 'b' WHERE id = 'a'"
    case .renameOtherwise: "UPDATE lists SET id = 'c' WHERE id = 'a'"
    case .editFirst: "UPDATE lists SET x = 'x\(device)'"
    case .editSecond: "UPDATE lists SET y = 'y\(device)'"
    case .delete: "DELETE FROM lists"
    case .insertChild: "INSERT INTO items SELECT id, 'n\(device)', 'v' FROM lists"
    case .editChild: "UPDATE items SET v = 'v\(device)' WHERE n = 'n'"
    }
  }
}

/// Devices that each do something, a minute after each other, and synchronize then.
struct RenameScript {
  static let start: Int64 = 1_700_000_000_000
  static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT);
    CREATE TABLE items(
      list TEXT NOT NULL REFERENCES lists(id) ON DELETE CASCADE ON UPDATE CASCADE, n TEXT NOT NULL,
      v TEXT, PRIMARY KEY(list, n)) WITHOUT ROWID;
    """
  static let tables = ["lists", "items"]

  /// What each device does.
  var steps: [[RenameStep]]
  /// The devices in the order of their edits.
  var made: [Int]
  /// The devices in the order in which they synchronize.
  var synchronized: [Int]
  var deletes: DeletePolicy

  /// What all devices must have in the end: nothing is lost, the newest edit of a column stays, and of two keys the later
  /// one.
  ///
  /// A deletion is of the record that its device has seen, and that is not the one of a new key. It ends what it meets in
  /// the cloud before the new key is heard of there.
  var wanted: (lists: [String], items: [String]) {
    var id = "a"
    var columns = ["x": "x", "y": "y"]
    var children = ["n": "v"]
    for device in made {
      for step in steps[device] where !isEnded(step, by: device) {
        switch step {
        case .rename: id = "b"
        case .renameOtherwise: id = "c"
        case .editFirst: columns["x"] = "x\(device)"
        case .editSecond: columns["y"] = "y\(device)"
        case .delete: break
        case .insertChild: children["n\(device)"] = "v"
        case .editChild: children["n"] = "v\(device)"
        }
      }
    }
    let items = children.sorted { $0.key < $1.key }.map { "'\(id)'|'\($0.key)'|'\($0.value)'" }
    return (["'\(id)'|'\(columns["x"] ?? "")'|'\(columns["y"] ?? "")'"], items)
  }

  /// Whether a deletion ends what a device has done, before the first device tells that the row has another key.
  ///
  /// Where edits win they win over the deletion of their row, a child's too; children that were added, and that nobody else
  /// has heard of, go with their parent by its foreign key.
  private func isEnded(_ step: RenameStep, by device: Int) -> Bool {
    let early = synchronized.prefix { $0 != 0 }
    guard early.contains(device), early.contains(where: { steps[$0].contains(.delete) }) else {
      return false
    }
    switch step {
    case .editFirst, .editSecond, .editChild: return deletes == .deleteWins
    case .insertChild: return true
    case .rename, .renameOtherwise, .delete: return false
    }
  }

  /// What is wrong in the end; nil if nothing is.
  func error() throws -> String? {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let bench = SyncHarness()
    let devices = try steps.indices.map { number in
      try bench.device("device \(number)", Self.schema, tables: Self.tables, options: options)
    }
    let first = "INSERT INTO lists VALUES('a', 'x', 'y'); INSERT INTO items VALUES('a', 'n', 'v')"
    try devices[0].execute(first, at: Self.start)
    for device in devices { try bench.sync(device) }
    var time = Self.start
    for number in made {
      for step in steps[number] {
        time += 60_000
        try devices[number].execute(step.sql(by: number), at: time)
      }
    }
    for number in synchronized + synchronized { try bench.sync(devices[number]) }
    let wanted = wanted
    for device in devices {
      let lists = try device.lines("SELECT * FROM lists ORDER BY 1")
      let items = try device.lines("SELECT * FROM items ORDER BY 1, 2")
      if lists != wanted.lists || items != wanted.items {
        return "\(device.name) has \(lists) and \(items), not \(wanted)"
      }
      let unclean = try bench.unclean(device)
      if unclean != [] { return "\(device.name) is not clean: \(unclean)" }
    }
    return nil
  }

  /// All orders of some devices.
  static func orders(of count: Int) -> [[Int]] {
    if count == 1 { return [[0]] }
    return orders(of: count - 1)
      .flatMap { order in
        (0..<count)
          .map { place in
            var longer = order
            longer.insert(count - 1, at: place)
            return longer
          }
      }
  }
}
