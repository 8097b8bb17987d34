import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The tables of the demonstration, and what somebody has in them.
struct DemoRows: Equatable {
  static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '');
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE,
      text TEXT NOT NULL DEFAULT '',
      done INTEGER NOT NULL DEFAULT 0
    );
    """
  static let tables = ["lists", "notes"]
  static let zoneID = ZoneID(name: "Notes")

  private static let columns = [
    "lists": [("id", "TEXT"), ("title", "TEXT")],
    "notes": [("id", "TEXT"), ("list", "TEXT"), ("text", "TEXT"), ("done", "INTEGER")],
  ]

  /// The rows of each table by their keys, as SQL.
  private(set) var rows: [String: [String: [String]]] = [:]

  /// Reads a database.
  init(_ database: DatabaseFile) throws {
    rows = try database.write { handle in
      let connection = SQLiteConnection(borrowing: handle)
      var rows: [String: [String: [String]]] = [:]
      for table in Self.tables {
        let names = (Self.columns[table] ?? []).map(\.0)
        let query = try connection.prepare(
          "SELECT \(names.joined(separator: ", ")) FROM \(table) ORDER BY id"
        )
        try query.forEachRow {
          let values = names.indices.map { query.value(Int32($0)).literal }
          rows[table, default: [:]][query.text(0) ?? "", default: []] = values
        }
      }
      return rows
    }
  }

  /// Takes the records of a cloud.
  init(_ records: [Record]) throws {
    for (name, columns) in Self.columns {
      guard let table = CloudTable(name, columns: columns, key: ["id"]) else { continue }
      for record in records {
        guard let values = try table.row(of: record), case .text(let id)? = values.first else {
          continue
        }
        rows[name, default: [:]][id] = values.map(\.literal)
      }
    }
  }

  func count(of table: String) -> Int { rows[table]?.count ?? 0 }

  /// Every row in a few words, by what it is called; the list of a note is left out.
  var texts: [String: String] {
    var texts: [String: String] = [:]
    for (id, values) in rows["lists"] ?? [:] { texts["list \(id)"] = Self.plain(values[1]) }
    for (id, values) in rows["notes"] ?? [:] {
      texts[id] = Self.plain(values[2]) + (values[3] == "0" ? "" : " ✓")
    }
    return texts
  }

  private static func plain(_ literal: String) -> String {
    literal.hasPrefix("'") ? String(literal.dropFirst().dropLast()) : literal
  }
}
