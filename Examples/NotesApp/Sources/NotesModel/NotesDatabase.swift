import CloudSyncSQLite
import CloudSyncSession

/// The app's database, with the statements that the app runs.
public struct NotesDatabase: Sendable {
  /// The file, which the engine uses as well.
  public let file: DatabaseFile

  static let tables = ["notes"]
  static let zoneID = ZoneID(name: "Notes")

  /// All notes, each with its status: the engine's view tells that of every row.
  private static let list = """
    SELECT n.id, n.text, n.is_done, s.status, s.error
    FROM notes n LEFT JOIN cloudsync_status s ON s.table_name = 'notes' AND s.key = n.id
    ORDER BY n.is_done, n.text, n.id
    """

  /// Opens the file, and makes the table if it is not there.
  ///
  /// - Throws: That the file cannot be opened or written.
  public init(path: String) throws {
    file = try DatabaseFile(path: path, createsFile: true)
    try file.execute(
      """
      CREATE TABLE IF NOT EXISTS notes(
        id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))),
        text TEXT NOT NULL DEFAULT '',
        is_done INTEGER NOT NULL DEFAULT 0
      )
      """
    )
  }

  func notes() throws -> [Note] { try file.query(Self.list).compactMap(Note.init) }

  func add(text: String) throws {
    try file.query("INSERT INTO notes(text) VALUES(?)", [.string(text)])
  }

  func set(text: String, of id: String) throws {
    try file.query("UPDATE notes SET text = ? WHERE id = ?", [.string(text), .string(id)])
  }

  func set(isDone: Bool, of id: String) throws {
    try file.query(
      "UPDATE notes SET is_done = ? WHERE id = ?",
      [.int64(isDone ? 1 : 0), .string(id)]
    )
  }

  func delete(_ id: String) throws {
    try file.query("DELETE FROM notes WHERE id = ?", [.string(id)])
  }
}
