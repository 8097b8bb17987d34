import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the two files are kept in step.
extension MetadataAttachment {
  /// Whether the rows are in another file than the triggers.
  static func isAttached(to connection: SQLiteConnection) -> Bool {
    connection.file(ofSchema: schema) != nil
  }

  /// Whether the attached file has lost the last transaction.
  static func isBehind(_ store: MetadataStore) throws(SQLiteError) -> Bool {
    try store.transactionNumber(store.info) != store.transactionNumber(store.fact)
  }

  /// Does what a transaction over both files has to do first; returns what ``close(_:since:)`` needs.
  static func open(_ work: EngineWork) throws(SQLiteError) -> Int32 {
    let (connection, store) = (work.connection, work.store)
    try connection.execute("DELETE FROM main.cloudsync_staged")
    // The file that has taken them has kept that.
    try store.removeOutbox(upTo: try store.lastTaken())
    return connection.changedRowCount
  }

  /// Does what a transaction over both files has to do last.
  static func close(_ work: EngineWork, since count: Int32) throws(SQLiteError) {
    guard work.connection.changedRowCount != count else { return }
    let store = work.store
    let number = SQLiteValue.integer(try store.transactionNumber(store.info) + 1)
    try store.setInfo("transaction", number)
    try store.setFact("transaction", number)
  }

  /// Does again what the attached file has lost of the last transaction.
  ///
  /// In a transaction of its own, which leaves the database as it is: so it can be cut short, too.
  static func mend(_ work: EngineWork) throws(SQLiteError) {
    let (connection, store) = (work.connection, work.store)
    let renewal = try store.info("renewal")
    if try renewal != store.fact("renewal") {
      if try store.info("renewal_kind") == .text(Renewal.deletion.rawValue) {
        try work.forgetRows()
      } else {
        try work.voidEverything()
      }
      let journal = JournalStore(connection: connection)
      try journal.removeAll()
      if case .blob(let bytes)? = try store.info("renewal_state") {
        try journal.write(Data(bytes), isFirst: true)
      }
      try store.setFact("renewal", renewal)
    }
    try connection.execute(
      """
      DELETE FROM cloudsync_rows WHERE EXISTS(
        SELECT 1 FROM main.cloudsync_staged s
        WHERE s.table_id = cloudsync_rows.table_id AND s.key IS cloudsync_rows.key);
      INSERT INTO cloudsync_rows(\(MetadataSchema.rowColumns))
      SELECT \(MetadataSchema.rowColumns) FROM main.cloudsync_staged;
      """
    )
    for table in work.tables.inOrder {
      try Adoption(table: table, connection: connection, transport: work.transport)
        .adoptUnknownRows()
    }
    try store.setFact("transaction", try store.info("transaction"))
  }
}

/// What is done to all rows at once.
enum Renewal: String, Sendable {
  /// They are deleted.
  case deletion
  /// They are to be uploaded.
  case upload
}

extension EngineWork {
  /// Does what is to be done to all rows, and replaces the session's journal by a state.
  func renew(_ renewal: Renewal, _ state: Data?) throws(SQLiteError) {
    switch renewal {
    case .deletion: try deleteEverything()
    case .upload: try voidEverything()
    }
    let journal = JournalStore(connection: connection)
    try journal.removeAll()
    if let state { try journal.write(state, isFirst: true) }
    guard MetadataAttachment.isAttached(to: connection) else { return }
    let number = (try store.info("renewal")?.integer ?? 0) + 1
    try store.setInfo("renewal", .integer(number))
    try store.setInfo("renewal_kind", .text(renewal.rawValue))
    try store.setInfo("renewal_state", state.map { .blob([UInt8]($0)) })
    try store.setFact("renewal", .integer(number))
  }
}

extension MetadataStore {
  /// How many transactions a file has taken, as its infos tell or its facts.
  func transactionNumber(
    _ value: (String) throws(SQLiteError) -> SQLiteValue?
  ) throws(SQLiteError) -> Int64 {
    try value("transaction")?.integer ?? 0
  }

  /// The last captured edit that the attached file has taken.
  func lastTaken() throws(SQLiteError) -> Int64 {
    try fact("outbox")?.integer ?? .min
  }

  /// Notes what became of a row in the file of the row itself, if that is another one.
  func stage(_ row: RowState) throws(SQLiteError) {
    guard MetadataAttachment.isAttached(to: connection) else { return }
    try connection.statement(
      """
      REPLACE INTO main.cloudsync_staged(\(MetadataSchema.rowColumns))
      SELECT \(MetadataSchema.rowColumns) FROM cloudsync_rows WHERE table_id = ?1 AND key IS ?2
      """
    )
    .bind(row.table, at: 1).bind(row.key, at: 2).run()
  }
}
