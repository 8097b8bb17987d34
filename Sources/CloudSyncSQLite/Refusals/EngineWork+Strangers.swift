import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  static let foreignName = "its name is none that a row of a table has"

  /// Keeps a record that has no time, of a table that is here or of none.
  func refuseWithoutTime(_ record: Record) throws(SQLiteError) {
    guard let name = RecordName.parse(record.recordID.name) else {
      return try refuse(record, Self.foreignName)
    }
    if tables.table(named: name.table) == nil { return try store.keepStranger(record) }
    try refuse(record, "its field \(RecordLayout.timeField) holds no time")
  }

  /// Whether a key cannot be a row's; its record is kept then.
  func refuses(
    _ key: [SQLiteValue],
    of record: Record,
    _ table: SyncTable
  ) throws(SQLiteError) -> Bool {
    guard let column = table.columnRefusing(key) else { return false }
    let place = "\(table.name.quotedName).\(column.quotedName)"
    try refuse(record, "its name does not fit the primary key \(place)")
    return true
  }

  /// Keeps a record that no row can be made of, and says why.
  func refuse(_ record: Record, _ reason: String) throws(SQLiteError) {
    // A cloud has records of its own, as for shares.
    if record.recordType.hasPrefix("cloudkit.") { return }
    try store.keepStranger(
      record,
      error:
        "record \(record.recordID.name) of type \(record.recordType) cannot be stored: \(reason)"
    )
  }
}

extension MetadataStore {
  /// The names of the records that no row can be made of.
  func refusedNames() throws(SQLiteError) -> Set<String> {
    let query = try connection.fixedStatement(
      "SELECT record_name FROM cloudsync_strangers WHERE error IS NOT NULL"
    )
    var names: Set<String> = []
    try query.forEachRow { if let name = query.text(0) { names.insert(name) } }
    return names
  }
}

extension SyncTable {
  /// The column of the key that would store another value than it is given, or must not have it.
  ///
  /// The row's key would then give another name than its record's.
  func columnRefusing(_ key: [SQLiteValue]) -> String? {
    for (place, value) in key.enumerated() {
      let isKept =
        switch (value, keyAffinities[place]) {
        case (.null, _): false
        case (.integer, .text), (.real, .text): false
        case (.text(let text), .integer), (.text(let text), .real), (.text(let text), .numeric):
          !Self.looksLikeNumber(text)
        default: true
        }
      if !isKept { return schema.primaryKey[place] }
    }
    return nil
  }

  private static func looksLikeNumber(_ text: String) -> Bool {
    let bytes = text.utf8.drop { [32, 9, 10, 11, 12, 13].contains($0) }
    let end = bytes.lastIndex { ![32, 9, 10, 11, 12, 13].contains($0) }
    guard let end else { return false }
    let number = Substring(bytes[...end])
    // Swift also reads what SQLite does not.
    return number.utf8.allSatisfy { !($0 | 0x20 >= 0x66 && $0 | 0x20 <= 0x7a) }
      && Double(number) != nil
  }
}
