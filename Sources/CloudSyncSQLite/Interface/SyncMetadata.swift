public import CloudSyncCore

/// What an engine has noted in a database, read without an engine.
///
/// ```swift
/// let database = try DatabaseFile(path: "notes.sqlite", access: .readOnly)
/// if let metadata = try SyncMetadata.read(from: database) {
///   print(metadata.counts.pending, "edits are not in the cloud yet")
/// }
/// ```
public struct SyncMetadata: Sendable, Hashable {
  /// How many records have each status.
  public struct Counts: Sendable, Hashable {
    /// The cloud has what the row has.
    public var clean = 0
    /// There is an edit that the cloud has not got.
    public var dirty = 0
    /// There is an edit that stays on this device, because of a row filter.
    public var local = 0
    /// The record waits for another one.
    public var waiting = 0
    /// The record was refused, or no row can be made of it here.
    public var parked = 0
    /// How many of the records that wait or are parked have an edit that the cloud has not got.
    public var heldEdits = 0

    /// How many edits the cloud has not got, but for those that are held.
    public var pending: Int { dirty }

    /// Creates counts of nothing.
    public init() {}
  }

  /// A synchronized table.
  public struct Table: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// The columns whose edits are captured.
    public let columns: [String]
    /// How many of its records have each status.
    public let counts: Counts
    /// The condition of the rows that this device sends; nil for all.
    public let rowFilter: String?
    /// What was done to the table since edits of it were captured; nil if nothing was.
    public let change: Change?
  }

  /// Why edits of a table may have been made that nobody has captured: the next start of an engine finds them, and the
  /// counts do not have them.
  public enum Change: Sendable, Hashable {
    /// It was dropped and made again, has lost triggers, or the app has made one on it since.
    case rebuilt
    /// It has columns that are new.
    case hasNewColumns([String])
    /// It is not there any more.
    case missing
  }

  /// A record that is parked or waits.
  public struct HeldRecord: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The row's key as SQL: a literal, or several with commas between them.
    public let key: String
    /// The record's name in the cloud.
    public let recordName: String
    /// Why it is held.
    public let status: RecordStatus
  }

  /// A record of the cloud that is none of a row's, or was refused, and belongs to no row here.
  public struct UnreadableRecord: Sendable, Hashable {
    /// The record's name in the cloud.
    public let recordName: String
    /// What is wrong with it.
    public let reason: String
  }

  /// The version of the engine's tables.
  public let version: Int
  /// The synchronized tables, in the order in which they came to be.
  public let tables: [Table]
  /// The tables that were synchronized once and are left out now, as far as they are still there, with what their engines
  /// have noted.
  public let leftOutTables: [Table]
  /// What is parked or waits of tables that are left out, by table and record name.
  public let leftOutRecords: [HeldRecord]
  /// What was refused, by table and record name.
  public let parked: [HeldRecord]
  /// What waits for other records, by table and record name.
  public let waiting: [HeldRecord]
  /// Why records of the cloud cannot be read, by their names.
  public let unreadableRecords: [UnreadableRecord]
  /// How many records the cloud has for tables that this database does not have.
  public let unknownRecords: Int
  /// Rows that are left out because their primary keys hold NULL, by table: at most a hundred of each.
  public let unnamedRows: [UnnamedRow]
  /// When the engine was last done with everything; nil if it never was.
  public let lastSync: Timestamp?

  /// The counts of all tables.
  public var counts: Counts {
    tables.reduce(into: Counts()) { sum, table in
      sum.clean += table.counts.clean
      sum.dirty += table.counts.dirty
      sum.local += table.counts.local
      sum.waiting += table.counts.waiting
      sum.parked += table.counts.parked
      sum.heldEdits += table.counts.heldEdits
    }
  }
}
