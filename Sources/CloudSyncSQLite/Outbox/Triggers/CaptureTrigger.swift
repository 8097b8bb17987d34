/// A trigger that captures edits.
struct CaptureTrigger: Sendable, Hashable {
  /// What the names of all of them begin with.
  static let prefix = "cloudsync_capture_"

  let name: String
  private let definition: String

  init(_ event: String, of table: CapturedTable, definition: String) {
    name = "\(Self.prefix)\(event)_\(table.id)"
    self.definition = definition
  }

  /// The statement that makes it, whatever the connection's temporary tables are called.
  var creation: String { "CREATE TRIGGER main.\(name) \(definition)" }
  /// Its text as SQLite keeps it.
  var storedText: String { "CREATE TRIGGER \(name) \(definition)" }
}
