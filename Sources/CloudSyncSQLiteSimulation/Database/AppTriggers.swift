/// Triggers of an app whose tables an engine synchronizes: they write rows, or keep later triggers from running, and stand
/// aside while the engine writes.
///
/// SQLite runs the trigger first that was made last, so those of an engine that were made before these must not come after
/// them.
struct AppTriggers: Sendable {
  let schema: SimulatedSchema
  let version: SimulatedSchema.Version

  /// What their names begin with.
  private static let prefix = "app_"

  /// The query for the names of those that a database has.
  static let names = """
    SELECT name FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, \(prefix.count)) = '\(prefix)'
    """

  /// The statements that make them.
  var sql: String {
    schema.tables(version: version).flatMap { sql(of: $0) }.joined(separator: "\n")
  }

  private func sql(of table: SimulatedSchema.Table) -> [String] {
    let name = table.name
    func trigger(_ word: String, after event: String, if condition: String, body: String) -> String
    {
      """
      CREATE TRIGGER IF NOT EXISTS \(Self.prefix)\(word)_\(name) AFTER \(event) ON \(name)
      WHEN NOT (SELECT is_synchronizing FROM cloudsync_activity) AND \(condition) BEGIN \(body); END;
      """
    }
    // The row stays as it is, and no later trigger hears of it.
    var all = [
      trigger("last", after: "UPDATE OF a", if: "NEW.a % 3 = 1", body: "SELECT RAISE(IGNORE)")
    ]
    guard table.key.map(\.name) == ["id"] else { return all }
    if table.column("b") != nil {
      let b = table.sql("b")
      all.append(
        trigger(
          "next",
          after: "UPDATE OF a",
          if: "NEW.a % 3 = 2",
          body:
            "UPDATE \(name) SET \(b) = 'é' || NEW.a || '''' WHERE id = (SELECT min(id) FROM \(name) WHERE id > NEW.id)"
        )
      )
    }
    all.append(
      trigger(
        "back",
        after: "DELETE",
        if: "OLD.a % 2 = 1 AND OLD.born BETWEEN 1 AND 999999",
        body: "INSERT INTO \(name)(id, born, a) VALUES(OLD.id, OLD.born * 1000 + 500000, OLD.a)"
      )
    )
    return all
  }
}
