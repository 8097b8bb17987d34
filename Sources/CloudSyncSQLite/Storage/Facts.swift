import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Small facts of the engine's: `cloudsync_facts`.
struct Facts {
  let connection: SQLiteConnection

  static let table = "CREATE TABLE cloudsync_facts(key TEXT PRIMARY KEY NOT NULL, value);"

  /// What is kept under a name.
  enum Name: String {
    /// The version of the engine's tables.
    case version
    /// The number of this database, which its counters' shares have.
    case writer
    /// What the file was when the number was given: another file takes another one.
    case file
    /// The incarnation of the zone that tags and tokens are of.
    case zone
    /// The token of the last page that was stored.
    case token
    /// How far the cloud's history had come with all that is stored: what the next request shows.
    case history
    /// How many answers have said that the cloud lacks a record.
    case absences
    /// There if an answer has told which zone it is, and no page has come since that continues from what is known.
    case unconfirmedZone = "unconfirmed_zone"
    /// How often the zone turned out to be another one than what was known was of.
    case zoneChanges = "zone_changes"
    /// The incarnation that a full fetch has shown.
    case shownZone = "shown_zone"
    /// Whether the next incarnation that this device makes says that everybody's rows are erased.
    case erases
    /// What a full fetch is for; there if one is under way.
    case fullFetch = "full_fetch"
    /// The session's decisions and limits.
    case essence
    /// The numbers of tables that are to be compared with what is known of their rows, joined by commas.
    case unreconciled
    /// The numbers of those of them that were rebuilt: rows of theirs may have been changed unseen.
    case rebuilt
    /// Where in the first of them that has come, as a key.
    case reconciledTo = "reconciled_to"
    /// The numbers of tables that an engine left out when the zone became another one: what is known of their rows is of
    /// the zone before.
    case leftByZone = "left_by_zone"
    /// Those of tables that were left out when the rows of a zone were erased on purpose.
    case leftByErasure = "left_by_erasure"
    /// Those of tables whose rows an engine has changed by their foreign keys while it left them out.
    case overwritten
    /// Why everything is to be fetched; there if it is, and has not begun.
    case fetchAll = "fetch_all"
    /// What columns of tables that are to be compared were called before.
    case formerColumns = "former_columns"
    /// Whose names tables and columns had before.
    case formerNames = "former_names"
    /// What types they had.
    case formerTypes = "former_types"
    /// The counters that tables have got which are to be compared.
    case addedCounters = "added_counters"
    /// How many engines were started on the database: of two that want other columns the later one counts.
    case starts
    /// The version of the schema when the engine was set up last: another one may take rows that were refused.
    case schemaVersion = "schema_version"
    /// When everything was fetched last, in milliseconds since 1970.
    case lastSync = "last_sync"
    /// The kinds of the own fields of columns in the cloud.
    case columnKinds = "column_kinds"
    /// Those that records have shown to be others, since the engine was set up.
    case shownKinds = "shown_kinds"
    /// The kinds that fields had before it was tried whether the cloud takes rows without them.
    case doubtedKinds = "doubted_kinds"
    /// The types of the records for which that was tried in vain.
    case triedKinds = "tried_kinds"
    /// The fields that the cloud has encrypted.
    case encryptedFields = "encrypted_fields"
    /// The latest date that a record had in the cloud, in milliseconds since 1970.
    case cloudTime = "cloud_time"
    /// The tables all of whose long keys are noted.
    case indexedKeys = "indexed_keys"
    /// The conditions of the rows that are sent, by which an engine has decided last which rows stay here.
    case rowFilters = "row_filters"
    /// The journal mode that the file had before a tool wrote it, which it gets back when it is detached.
    case journalMode = "journal_mode"
    /// The policies that a tool was given, which it uses again where none are named.
    case toolPolicies = "tool_policies"
    /// The tables that a tool was told of and that are not synchronized, as long as nobody names others.
    case toolTables = "tool_tables"
  }

  func value(_ name: Name) throws(SQLiteError) -> SQLiteValue? {
    let query =
      try connection.fixedStatement("SELECT value FROM cloudsync_facts WHERE key = ?1")
      .bind(name.rawValue, at: 1)
    defer { query.reset() }
    return try query.step() ? query.value(0) : nil
  }

  /// A number; nil if there is none.
  func integer(_ name: Name) throws(SQLiteError) -> Int64? {
    guard case .integer(let number)? = try value(name) else { return nil }
    return number
  }

  /// The token of the last page that was stored, where the next fetch begins; nil if there is none.
  func token() throws(SQLiteError) -> ChangeToken? {
    guard case .blob(let bytes)? = try value(.token) else { return nil }
    return ChangeToken(Data(bytes))
  }

  /// How far the cloud's history had come with all that is stored.
  func historyTokens() throws(SQLiteError) -> [ChangeToken] {
    guard case .text(let text)? = try value(.history) else { return [] }
    return ChangeToken.tokens(in: text)
  }

  func setHistoryTokens(_ tokens: [ChangeToken]) throws(SQLiteError) {
    try set(.history, to: tokens.isEmpty ? nil : .text(ChangeToken.text(of: tokens)))
  }

  /// Keeps a value, or forgets the one there is.
  func set(_ name: Name, to value: SQLiteValue?) throws(SQLiteError) {
    guard let value else {
      return try connection.fixedStatement("DELETE FROM cloudsync_facts WHERE key = ?1")
        .bind(name.rawValue, at: 1).run()
    }
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_facts(key, value) VALUES(?1, ?2)
      ON CONFLICT DO UPDATE SET value = ?2
      """
    )
    .bind(name.rawValue, at: 1).bind(value, at: 2).run()
  }
}
