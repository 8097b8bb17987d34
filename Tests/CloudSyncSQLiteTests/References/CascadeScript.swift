import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What a device does with projects, and with tasks that refer to them by name.
enum CascadeStep: String, CaseIterable, Sendable {
  case rename, renameOtherwise, renameAgain, move, moveElsewhere, moveBack, editTitle

  var sql: String {
    switch self {
    case .rename: "UPDATE projects SET name = 'House' WHERE name = 'Home'"
    case .renameOtherwise: "UPDATE projects SET name = 'Abode' WHERE name = 'Home'"
    case .renameAgain: "UPDATE projects SET name = 'Villa' WHERE name IN ('House', 'Abode')"
    case .move: "UPDATE tasks SET project = 'Work' WHERE id = 'a'"
    case .moveElsewhere: "UPDATE tasks SET project = 'Play' WHERE id = 'a'"
    // Whatever the project is called on this device.
    case .moveBack:
      "UPDATE tasks SET project = (SELECT name FROM projects WHERE t = 'h') WHERE id = 'a'"
    case .editTitle: "UPDATE tasks SET t = 'y' WHERE id = 'a'"
    }
  }
}

/// Devices that each do something, a minute after each other, and synchronize then.
struct CascadeScript {
  static let start: Int64 = 1_700_000_000_000
  static let tables = ["projects", "tasks"]

  /// The ways in which tasks may refer to projects.
  static let schemas = [
    """
    CREATE TABLE projects(name TEXT PRIMARY KEY NOT NULL, t TEXT);
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL, project TEXT REFERENCES projects ON UPDATE CASCADE, t TEXT);
    """,
    """
    CREATE TABLE projects(name TEXT PRIMARY KEY NOT NULL, t TEXT) WITHOUT ROWID;
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL,
      project TEXT REFERENCES projects(name) ON UPDATE CASCADE ON DELETE CASCADE, t TEXT
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE projects(name TEXT UNIQUE, t TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE tasks(
      id TEXT PRIMARY KEY NOT NULL,
      project TEXT REFERENCES projects(name) ON UPDATE CASCADE ON DELETE SET NULL, t TEXT);
    """,
  ]

  var schema = schemas[0]
  /// What each device does.
  var steps: [[CascadeStep]]
  /// The devices in the order of their edits.
  var made: [Int]
  /// The devices in the order in which they synchronize.
  var synchronized: [Int]
  var deletes = DeletePolicy.deleteWins
  var isEnforced = true

  /// The names of the project and of those that the tasks refer to: the later name stays, the newest move stays, and
  /// whatever nobody has moved follows its project.
  private var wanted: (project: String, moved: String, other: String, title: String) {
    var (name, moved, title) = ("Home", nil as String?, "x")
    for device in made {
      for step in steps[device] {
        switch step {
        case .rename: name = "House"
        case .renameOtherwise: name = "Abode"
        case .renameAgain: name = "Villa"
        case .move: moved = "Work"
        case .moveElsewhere: moved = "Play"
        case .moveBack: moved = nil
        case .editTitle: title = "y"
        }
      }
    }
    return (name, moved ?? name, name, title)
  }

  /// What is wrong in the end; nil if nothing is.
  func error() throws -> String? {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    options.defaultTable.uniqueKeys = .newest
    let bench = SyncHarness()
    let device = { (name: String) in
      try bench.device(
        name,
        schema,
        tables: Self.tables,
        options: options,
        enforcesForeignKeys: isEnforced
      )
    }
    var devices = try steps.indices.map { try device("device \($0)") }
    let first = """
      INSERT INTO projects(name, t) VALUES('Home', 'h'), ('Work', 'w'), ('Play', 'p');
      INSERT INTO tasks(id, project, t) VALUES('a', 'Home', 'x'), ('b', 'Home', 'x')
      """
    try devices[0].execute(first, at: Self.start)
    for device in devices { try bench.sync(device) }
    var time = Self.start
    for number in made {
      for step in steps[number] {
        time += 60_000
        try devices[number].execute(step.sql, at: time)
      }
    }
    for number in synchronized + synchronized { try bench.sync(devices[number]) }
    // Who comes later gets what all have.
    devices.append(try device("late"))
    try bench.sync(devices[devices.count - 1])
    let wanted = wanted
    let projects = ["'\(wanted.project)'|'h'", "'Play'|'p'", "'Work'|'w'"].sorted()
    let tasks = [
      "'a'|'\(wanted.moved)'|'\(wanted.title)'", "'b'|'\(wanted.other)'|'x'",
    ]
    for device in devices {
      let found = try device.lines("SELECT name, t FROM projects ORDER BY 1")
      let referring = try device.lines("SELECT id, project, t FROM tasks ORDER BY 1")
      if found != projects || referring != tasks {
        return "\(device.name) has \(found) and \(referring), not \(projects) and \(tasks)"
      }
      let unclean = try bench.unclean(device)
      if unclean != [] { return "\(device.name) is not clean: \(unclean)" }
    }
    return nil
  }
}
