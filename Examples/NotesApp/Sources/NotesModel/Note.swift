import CloudSyncSQLite

/// A note of the list.
public struct Note: Identifiable, Hashable, Sendable {
  /// How far a note has come.
  public enum Progress: Hashable, Sendable {
    case synced
    /// It has an edit that the cloud has not got yet.
    case pending
    /// The cloud or the database has refused it.
    case rejected(reason: String)
  }

  /// The key of its row.
  public let id: String
  /// What it says.
  public let text: String
  /// Whether the user has ticked it off.
  public let isDone: Bool
  /// How far it has come.
  public let progress: Progress

  /// Reads a row of the list.
  init?(_ row: DatabaseRow) {
    guard let id = row.string("id") else { return nil }
    self.id = id
    text = row.string("text") ?? ""
    isDone = row.int64("is_done") == 1
    progress =
      switch row.string("status") {
      case "parked": .rejected(reason: row.string("error") ?? "")
      case "clean": .synced
      default: .pending
      }
  }
}
