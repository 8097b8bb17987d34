import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A synchronized table, as what travels sees it.
struct RecordTable: Sendable {
  /// The table with its key and its columns' numbers, as its triggers know it.
  let captured: CapturedTable
  /// The columns that can be written, in the table's order.
  let columns: [String]
  /// These columns by their places.
  let places: ColumnNumbers
  /// The numbers of the columns, and of those that there were.
  let numbers: ColumnNumbers
  /// How its rows lie in records.
  let format: RecordFormat
  /// How its rows are merged.
  var rules: RowRules
  /// What becomes of its rows whose parent is deleted elsewhere.
  let orphans: OrphanPolicy
  /// What becomes of those where the foreign key says `CASCADE`.
  let cascades: OrphanPolicy
  /// What becomes of two rows that break a unique key beside the primary one.
  let uniqueKeys: UniqueKeyPolicy?
  /// Finds the rows that hold values which another row is to have: by each unique key, the primary one first.
  let searches: [UniqueKeySearch]
  /// The columns that unique keys look at beside the primary one.
  let keyedColumns: [String]
  /// Whether it has triggers beside the engine's.
  let hasTriggersOfTheApp: Bool
  /// Whether a trigger of the app's fails in the middle of what it does.
  let hasFailingTriggers: Bool
  /// Whether its keys have rules of their own for conflicts.
  let hasConflictRules: Bool
  /// What constant defaults give to the columns, by their places; nil for those that are computed.
  let defaults: [SQLiteValue?]
  /// How values travel.
  let transport: ValueTransport

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - captured: The table as its triggers know it.
  ///   - options: How it is synchronized.
  ///   - writer: The number of this database.
  ///   - defaults: What constant defaults give to the columns; nil for those that are computed.
  ///   - transport: How values travel.
  /// - Throws: Why the table has no format in the cloud.
  init(
    captured: CapturedTable,
    options: SyncEngineOptions.Table,
    writer: Int64,
    defaults: [SQLiteValue?],
    transport: ValueTransport
  ) throws(RecordFormatError) {
    let schema = captured.schema
    self.captured = captured
    self.transport = transport
    self.defaults = defaults
    columns = schema.writableColumns.map(\.name)
    places = ColumnNumbers(columns)
    numbers = ColumnNumbers(captured.columns)
    let format = try RecordFormat(
      table: schema.name,
      columns: schema.writableColumns.map { ($0.name, $0.type) },
      key: captured.key.map { ($0.name, $0.collation.rawValue) },
      numbers: numbers,
      assetThreshold: transport.assets?.options.threshold ?? .max
    )
    self.format = format
    var rules = RowRules(writer: writer, policy: options.merging, groups: schema.columnGroups)
    rules.asideFields = { format.asideFields(of: $0) }
    self.rules = rules
    orphans = options.orphans
    cascades = options.cascades
    uniqueKeys = options.uniqueKeys
    searches = schema.uniqueKeySearches
    let keyed = searches.dropFirst().flatMap(\.columns)
    keyedColumns = schema.columns.map(\.name).filter { keyed.contains($0) }
    hasTriggersOfTheApp = schema.hasTriggersOfTheApp
    hasFailingTriggers = schema.hasFailingTriggers
    let declaration = SQLText(schema.sql)
    hasConflictRules = declaration.tokens.contains { declaration.isWord("CONFLICT", at: $0) }
  }

  /// Its number in the engine's tables.
  var id: Int64 { captured.id }
  var schema: TableSchema { captured.schema }
  var name: String { captured.schema.name }
  /// The columns of the primary key, in the key's order.
  var key: [String] { captured.schema.primaryKey }

  /// What a row waits for that refers to a key of the table which is not the primary one.
  var anyRecord: String { "*:\(format.recordType)" }

  func store(_ connection: SQLiteConnection) -> RecordStore {
    RecordStore(
      connection: connection,
      table: id,
      places: places,
      numbers: numbers,
      rules: rules,
      digest: digest,
      fieldValue: { [transport] in transport.fieldValue($0) }
    )
  }

  /// A digest of a row, in which columns count for nothing that hold their constant default: so a column that is added
  /// changes none.
  func digest(of values: [SQLiteValue]) -> Int64 {
    var digest = RowDigest()
    for (place, value) in values.enumerated() where value != defaults[place] {
      digest.add(.integer(Int64(numbers.number(of: columns[place]) ?? -1)))
      digest.add(value)
    }
    return digest.value
  }

  func rows(_ connection: SQLiteConnection) -> TableRows {
    TableRows(
      connection: connection,
      name: name,
      columns: columns,
      key: key,
      hasConflictRules: hasConflictRules
    )
  }

  // MARK: Keys

  /// The key of a row, of the values of its columns.
  func key(ofRow values: [SQLiteValue]) -> RecordKey { format.key(ofRow: values) }

  /// A key as the engine's tables have it: its one value, or the text of several.
  func rowKey(_ key: RecordKey) -> SQLiteValue {
    if key.values.count == 1, let value = key.values.first { return value }
    return CompoundKey.text(of: key.values)
  }

  /// The key that the engine's tables have so.
  func key(_ rowKey: SQLiteValue) throws(SQLiteError) -> RecordKey {
    if key.count == 1 { return format.key(spelled: [rowKey]) }
    guard let values = CompoundKey.values(of: rowKey), values.count == key.count else {
      throw damaged(rowKey)
    }
    return format.key(spelled: values)
  }

  private func damaged(_ rowKey: SQLiteValue) -> SQLiteError {
    SQLiteError(code: 11, message: "\(rowKey.literal) is no key of \(name)")
  }

  /// The condition that finds the row of a key whose values are bound from a number on.
  func keyCondition(from first: Int, of row: String? = nil) -> String {
    let prefix = row.map { "\($0)." } ?? ""
    return key.enumerated()
      .map { "\(prefix)\($1.quotedName) IS ?\(first + $0)" }
      .joined(separator: " AND ")
  }
}

extension TableSchema {
  /// The columns that are chosen together, because a foreign key has several that can change.
  fileprivate var columnGroups: [[String]] {
    var groups: [[String]] = []
    for key in foreignKeys {
      var group = key.columns.filter { !primaryKey.contains($0) }
      if group.count < 2 { continue }
      for other in groups where other.contains(where: group.contains) {
        group += other.filter { !group.contains($0) }
      }
      groups.removeAll { $0.contains(where: group.contains) }
      groups.append(group)
    }
    return groups
  }

  fileprivate var hasTriggersOfTheApp: Bool {
    dependentSQL.contains { sql in
      CreateStatement.triggerName(of: sql).map { !$0.foldedName.starts(with: "cloudsync_".utf8) }
        ?? false
    }
  }

  fileprivate var hasFailingTriggers: Bool {
    dependentSQL.contains { sql in
      let text = SQLText(sql)
      return text.calls("RAISE") && text.tokens.contains { text.isWord("FAIL", at: $0) }
    }
  }
}
