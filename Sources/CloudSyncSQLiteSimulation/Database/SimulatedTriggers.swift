import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Triggers of a simulation's app, which write into rows and tables of the same commit: drawn from the seed, not quite the
/// same on all devices.
struct SimulatedTriggers: Sendable, Hashable {
  enum Kind: CaseIterable, Sendable {
    /// An edit of a row sets something of another one that it refers to.
    case parent
    /// The same of the next row of its table, which may be of the same commit.
    case next
    /// A row sets something of itself before it is edited.
    case own
    /// An edit makes a row of another table.
    case adds
    /// A deletion takes along a row of another table, or the next one.
    case deletes
    /// A row that takes a unique value has the other one give it up.
    case takes
    /// Some edits are refused, or left out without a word.
    case refuses
    /// A table of no history has what the rows have.
    case mirrors
  }

  private(set) var kinds: [Kind] = []
  private let schema: SimulatedSchema

  /// - Parameters:
  ///   - schema: The tables.
  ///   - random: The same for all devices.
  ///   - own: The device's own.
  init(schema: SimulatedSchema, random: inout SeededRandom, own: inout SeededRandom) {
    self.schema = schema
    guard random.chance(1, in: 4) else { return }
    if mirrored != nil, random.chance(1, in: 4) {
      // What a mirror has follows only from what nothing puts back without it.
      kinds = [.mirrors, .parent, .next]
      return
    }
    for kind in Kind.allCases where kind != .mirrors {
      if random.chance(2, in: 5), !own.chance(1, in: 4) { kinds.append(kind) }
    }
  }

  /// The tables that the history is about in a version; nil for all.
  func tables(version: SimulatedSchema.Version) -> [String]? {
    kinds.contains(.mirrors) ? schema.tables(version: version).map(\.name) : nil
  }

  /// A query that gives what a mirror has otherwise than its table.
  var mirrorDifference: String? {
    guard kinds.contains(.mirrors), let mirrored else { return nil }
    let (mine, theirs) = ("SELECT id, a FROM \(mirrored)", "SELECT id, a FROM app_mirror")
    return
      "SELECT * FROM (\(mine) EXCEPT \(theirs)) UNION ALL SELECT * FROM (\(theirs) EXCEPT \(mine))"
  }

  /// No row of it goes without a word.
  private var mirrored: String? {
    schema.focus == .items ? (schema.hasUses ? "uses" : nil) : "lists"
  }

  // MARK: SQL

  /// The statements that make them, in a database of a version.
  func sql(version: SimulatedSchema.Version) -> String {
    let tables = schema.tables(version: version)
    return kinds.flatMap { kind in tables.flatMap { sql(of: kind, for: $0, among: tables) } }
      .joined(separator: "\n")
  }

  private func sql(
    of kind: Kind,
    for table: SimulatedSchema.Table,
    among tables: [SimulatedSchema.Table]
  ) -> [String] {
    let name = table.name
    func trigger(_ when: String, _ body: String, if condition: String = "1") -> [String] {
      [
        "CREATE TRIGGER app_\(kind)_\(name) \(when) ON \(name) WHEN \(condition) BEGIN \(body); END;"
      ]
    }
    let b = table.sql("b")
    let text = "'é' || ifnull(NEW.a, 0) || '\(kind)'"
    let key = table.key.map(\.name)
    let isSingle = key == ["id"]
    switch kind {
    case .parent:
      let link = table.columns.first { ["lists", "items"].contains(Self.parents[$0.name]) }
      guard let link, let parent = tables.first(where: { $0.name == Self.parents[link.name] })
      else { return [] }
      return trigger(
        "AFTER UPDATE OF a",
        "UPDATE \(parent.name) SET \(parent.sql("b")) = \(text) WHERE \(link.parentColumn) = NEW.\(link.sql)"
      )
    case .next:
      guard isSingle, name != "uses" else { return [] }
      let next = "(SELECT min(id) FROM \(name) WHERE id > NEW.id)"
      return trigger("AFTER UPDATE OF a", "UPDATE \(name) SET \(b) = \(text) WHERE id = \(next)")
    case .own:
      let own = key.map { "\($0) = OLD.\($0)" }.joined(separator: " AND ")
      return trigger("BEFORE UPDATE OF a", "UPDATE \(name) SET \(b) = \(text) WHERE \(own)")
    case .adds:
      guard name == "lists" || name == "items" else { return [] }
      let other = schema.focus == .items ? "items" : "notes"
      return trigger(
        "AFTER UPDATE OF a",
        "INSERT INTO \(other)(id, born, a) VALUES('t' || lower(trim(NEW.id)), NEW.a, NEW.a) ON CONFLICT DO NOTHING",
        if: "NEW.a % 3 = 1 AND length(NEW.id) < 12"
      )
    case .deletes:
      guard isSingle else { return [] }
      let next = "(SELECT min(id) FROM \(name) WHERE id > OLD.id AND a % 3 = 0)"
      return trigger(
        name == "notes" ? "BEFORE DELETE" : "AFTER DELETE",
        "DELETE FROM \(name) WHERE id = \(next)"
      )
    case .takes:
      guard name == "items" else { return [] }
      return trigger(
        "BEFORE UPDATE OF name",
        "UPDATE items SET name = NULL WHERE name = NEW.name AND id <> NEW.id",
        if: "NEW.name IS NOT NULL"
      )
    case .refuses:
      let how = name == "lists" ? "IGNORE" : name == "notes" ? "FAIL, 'no'" : "ABORT, 'no'"
      return trigger("BEFORE UPDATE OF \(b)", "SELECT RAISE(\(how))", if: "NEW.\(b) LIKE '%3''%'")
    case .mirrors: return name == mirrored ? mirror(of: name) : []
    }
  }

  private static let parents = ["list": "lists", "item": "items"]

  private func mirror(of name: String) -> [String] {
    let add = "INSERT INTO app_mirror VALUES(NEW.id, NEW.a);"
    let remove = "DELETE FROM app_mirror WHERE id = OLD.id;"
    return [
      "CREATE TABLE app_mirror(id, a);",
      "CREATE TRIGGER app_mirror_1 AFTER INSERT ON \(name) BEGIN \(add) END;",
      "CREATE TRIGGER app_mirror_2 AFTER DELETE ON \(name) BEGIN \(remove) END;",
      "CREATE TRIGGER app_mirror_3 AFTER UPDATE OF id, a ON \(name) BEGIN \(remove) \(add) END;",
    ]
  }
}
