import CloudSyncSQLiteSchema

/// What a synchronization would do now.
public struct SyncPreview: Sendable, Hashable {
  /// What would become of a row or a record.
  public enum Action: Sendable, Hashable {
    /// It would be made.
    case insert
    /// These columns would change.
    case update(columns: [String])
    /// It would go.
    case delete
  }

  /// A row, or the record of one.
  public struct Change: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The row's key as SQL: a literal, or several with commas between them.
    public let key: String
    /// The record's name in the cloud.
    public let recordName: String
    /// What would become of it.
    public let action: Action
  }

  /// A record that would not be sent or stored.
  public struct Refusal: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The row's key as SQL.
    public let key: String
    /// The record's name in the cloud.
    public let recordName: String
    /// Why, in words.
    public let reason: String
  }

  /// What the schema's rules have to say; nothing is sent or stored while there is an error among it.
  public internal(set) var violations: [SchemaViolation]
  /// What would be sent, once what the cloud has is stored: parents' tables first, each in the order of its keys.
  public internal(set) var sent: [Change] = []
  /// What would be stored of what the cloud has, and what would follow from it, in that order.
  public internal(set) var applied: [Change] = []
  /// How many of the deletions among ``applied`` are of rows that were here before the first synchronization:
  /// others have deleted what these say anew.
  public internal(set) var endedRows = 0
  /// The rows that would become one with others; these are among those that would be deleted in ``applied``, if they are
  /// here.
  public internal(set) var united: [UnitedRow] = []
  /// What would be parked, or is.
  public internal(set) var refused: [Refusal] = []
  /// What would wait for a record that is not here.
  public internal(set) var waiting: [Refusal] = []
  /// How many records of the cloud would be kept for tables that this database does not have.
  public internal(set) var unknownRecords = 0
  /// How many rows would stay on this device with their edits, because of a row filter.
  public internal(set) var localRows = 0
  /// Whether the cloud has the zone; if not, it would be made.
  public internal(set) var hasZone = true

  /// Whether the schema forbids that the tables are synchronized.
  public var isForbidden: Bool { violations.contains { !$0.isWarning } }
  /// Whether nothing would be sent or stored.
  public var isEmpty: Bool { sent.isEmpty && applied.isEmpty }
}
