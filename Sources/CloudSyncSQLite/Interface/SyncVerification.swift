/// What a comparison of the tables with what is known of them and with the cloud has found.
public struct SyncVerification: Sendable, Hashable {
  /// A row that is not what it should be.
  public struct Difference: Sendable, Hashable {
    /// The table; nil for a record that cannot be read.
    public let table: String?
    /// The row's key as SQL: a literal, or several with commas between them.
    public let key: String?
    /// The record's name in the cloud.
    public let recordName: String
    /// What differs, in words.
    public let reason: String
  }

  /// How many rows the tables have.
  public internal(set) var rows = 0
  /// How many records the cloud has, tombstones among them.
  public internal(set) var records = 0
  /// How many of them are tombstones: of rows that somebody has deleted.
  public internal(set) var tombstones = 0
  /// How many rows were not compared with the cloud: they are still to be sent, wait, or are parked.
  public internal(set) var openRows = 0
  /// How many rows have a record in the cloud and edits that stay on this device, because of a row filter: these were not
  /// compared either.
  public internal(set) var localRows = 0
  /// What differs: first the tables from what is known, then the cloud from both.
  public internal(set) var differences: [Difference] = []
}
