import CloudSyncSQLite

/// The tables of a database that a run does not sync: those that were left out when tables were named last, and new ones,
/// of which nobody has decided anything.
struct UnsyncedTables: Sendable {
  /// All of them.
  private let names: [String]
  /// The tables that are synced.
  private let synced: [String]
  /// Whether this run names its tables: then it is decided.
  private let areNamed: Bool

  init(of database: [String], besides synced: [String], areNamed: Bool) {
    names = database.filter { name in !synced.contains(where: name.isSameName) }
    self.synced = synced
    self.areNamed = areNamed
  }

  /// Those that are new since tables were named last; a run that names its tables keeps what it leaves out.
  func new(in database: DatabaseFile) throws(SyncEngineError) -> [String] {
    let kept = try SyncMetadata.toolTables(of: database)
    if areNamed {
      let text = names.joined(separator: "\t")
      if text != kept { try SyncMetadata.noteToolTables(text, in: database) }
      return []
    }
    let known = (kept ?? "").split(separator: "\t").map { String($0) }
    return names.filter { !known.contains($0) }
  }

  /// Says that tables are not synced, and how to add them; nil if there are none.
  func note(of new: [String], path: String, cloud: String) -> String? {
    if new.isEmpty { return nil }
    let (are, them) = new.count == 1 ? ("is", "it") : ("are", "them")
    // What was left out before stays out.
    let tables =
      new.count == names.count
      ? "--all" : "--tables \((synced + new).joined(separator: ",").argument)"
    return
      "\(path): \(new.joined(separator: ", ")) \(are) not synced; “cloudsync sync \(path.argument) --cloud"
      + " \(cloud.argument) \(tables)” adds \(them)"
  }
}
