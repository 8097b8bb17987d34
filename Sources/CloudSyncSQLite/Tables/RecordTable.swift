import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A synchronized table, as what travels sees it.
///
/// It is a class because it is handed on for every row.
final class RecordTable: Sendable {
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
  let rules: RowRules
  /// The condition of the rows that are sent; nil for all.
  let filter: RowFilter?
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
  /// The statements that are run for its rows.
  let sql: TableSQL
  /// What constant defaults give to the columns, by their places; nil for those that are computed.
  let defaults: [SQLiteValue?]
  /// How values travel.
  let transport: ValueTransport
  /// Whether a column is of a key, be it the primary, a unique or a foreign one, by the columns' places.
  ///
  /// Such a value travels in the record itself, whatever its size: whose record it is, to which row it refers and which ones refer to
  /// it has to be known before any file is there.
  let comparesValues: [Bool]
  /// Whether the engine gives its integer keys, in ranges of each device's own.
  let countsKeys: Bool
  /// Whether every column stores values of its own kind as they are.
  let keepsOwnKinds: Bool
  /// Whether the columns of its key do, and nothing follows in the database when a row is made.
  let takesPlainRows: Bool
  /// Whether rows that nobody knows are sent as they are found: a counter's share is told apart.
  let sendsPlainRows: Bool
  /// The clock's field of such rows.
  let foundClock: FieldValue
  /// The numbers of the columns that can be written, by their places.
  private let columnNumbers: [Int64]
  /// Whether a column that is not given is NULL.
  private let hasNullDefault: [Bool]

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - captured: The table as its triggers know it.
  ///   - options: How it is synchronized.
  ///   - kinds: The kinds of the own fields of its columns in the cloud, where they are known.
  ///   - encrypted: The fields that the cloud encrypts.
  ///   - writer: The number of this database.
  ///   - defaults: What constant defaults give to the columns; nil for those that are computed.
  ///   - transport: How values travel.
  /// - Throws: Why the table has no format in the cloud.
  init(
    captured: CapturedTable,
    options: SyncEngineOptions.Table,
    kinds: [String: ColumnKind],
    encrypted: Set<String>,
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
      kinds: kinds,
      key: captured.key.map { ($0.name, $0.collation.rawValue) },
      encrypted: encrypted,
      numbers: numbers,
      assetThreshold: transport.assetThreshold,
      textThreshold: transport.textThreshold
    )
    self.format = format
    var rules = RowRules(writer: writer, policy: options.merging, groups: schema.columnGroups)
    filter = options.rowFilter.map { RowFilter($0, of: schema) }
    orphans = options.orphans
    countsKeys = options.givesIntegerKeys && schema.isCounted
    cascades = options.cascades
    uniqueKeys = options.uniqueKeys
    searches = schema.uniqueKeySearches
    let keyed = searches.dropFirst().flatMap(\.columns)
    keyedColumns = schema.columns.map(\.name).filter { keyed.contains($0) }
    hasTriggersOfTheApp = !schema.triggersOfTheApp.isEmpty
    sql = TableSQL(
      name: schema.name,
      columns: columns,
      key: schema.primaryKey,
      hasConflictRules: schema.hasConflictRules
    )
    let others = schema.writableColumns
      .filter { column in
        !column.keepsOwnKind || kinds[column.name] ?? column.kind != column.kind
      }
      .map(\.name)
    keepsOwnKinds = others.isEmpty
    takesPlainRows = !hasTriggersOfTheApp && !schema.primaryKey.contains { others.contains($0) }
    sendsPlainRows = !columns.contains { rules.isCounter($0) }
    let compared = schema.primaryKey + keyedColumns + schema.foreignKeys.flatMap(\.columns)
    let isCompared = { @Sendable (name: String) in compared.contains { $0.isSameName(as: name) } }
    // A version may hold whole what goes out as an asset.
    rules.asideFields = { [transport] version, known in
      let staged = transport.assets?.staged(version, isCompared: isCompared)
      return format.asideFields(of: staged ?? version, savedOver: known)
    }
    rules.isImage = ColumnImage.check(of: schema)
    self.rules = rules
    comparesValues = columns.map(isCompared)
    foundClock = format.newClock(at: .zero, created: RecordClock.foundCreation)
    let numbers = numbers
    columnNumbers = columns.map { Int64(numbers.number(of: $0) ?? -1) }
    hasNullDefault = defaults.map { $0 == .null }
  }

  /// The same table of a database that has got another number.
  init(_ table: RecordTable, writer: Int64) {
    captured = table.captured
    columns = table.columns
    places = table.places
    numbers = table.numbers
    format = table.format
    var rules = table.rules
    rules.writer = writer
    self.rules = rules
    filter = table.filter
    orphans = table.orphans
    countsKeys = table.countsKeys
    cascades = table.cascades
    uniqueKeys = table.uniqueKeys
    searches = table.searches
    keyedColumns = table.keyedColumns
    hasTriggersOfTheApp = table.hasTriggersOfTheApp
    sql = table.sql
    defaults = table.defaults
    transport = table.transport
    comparesValues = table.comparesValues
    keepsOwnKinds = table.keepsOwnKinds
    takesPlainRows = table.takesPlainRows
    sendsPlainRows = table.sendsPlainRows
    foundClock = table.foundClock
    columnNumbers = table.columnNumbers
    hasNullDefault = table.hasNullDefault
  }

  /// Its number in the engine's tables.
  var id: Int64 { captured.id }
  var schema: TableSchema { captured.schema }
  var name: String { captured.schema.name }
  /// The columns of the primary key, in the key's order.
  var key: [String] { captured.schema.primaryKey }

  func store(on connection: SQLiteConnection) -> RecordStore {
    RecordStore(
      connection: connection,
      table: id,
      places: places,
      numbers: numbers,
      rules: rules,
      digest: digest,
      fieldValue: { [self] in fieldValue($1, at: $0) }
    )
  }

  /// A digest of a row, in which columns count for nothing that hold their constant default: so a column that is added
  /// changes none.
  func digest(of values: [SQLiteValue]) -> Int64 { digest(of: values, at: values.indices) }

  /// The same of a row that did not have some of its columns when it was stored, by their names.
  func digest(of values: [SQLiteValue], without columns: [String]) -> Int64 {
    let absent = columns.compactMap { places.number(of: $0) }
    return digest(of: values, at: values.indices.filter { !absent.contains($0) })
  }

  /// The same of a row whose columns stood in another order when it was stored; those that have gone count for nothing.
  func digest(of values: [SQLiteValue], inOrder names: [String]) -> Int64 {
    digest(of: values, at: names.compactMap { places.number(of: $0) })
  }

  private func digest(of values: [SQLiteValue], at places: some Sequence<Int>) -> Int64 {
    var digest = RowDigest()
    for place in places where !isDefault(values[place], at: place) {
      digest.add(.integer(columnNumbers[place]))
      digest.add(values[place])
    }
    return digest.value
  }

  /// Whether a value is what the constant default of its column gives.
  func isDefault(_ value: SQLiteValue, at place: Int) -> Bool {
    // Most columns have none.
    if hasNullDefault[place] { return if case .null = value { true } else { false } }
    return value == defaults[place]
  }

  /// The same of a value as it travels.
  func isDefault(_ value: FieldValue, at place: Int) -> Bool {
    defaults[place].map { ValueContent.areEqual(fieldValue($0, at: place), value) } ?? false
  }

  func rows(on connection: SQLiteConnection) -> TableRows {
    TableRows(connection: connection, sql: sql)
  }

  // MARK: Keys

  /// The key of a row, of the values of its columns.
  func key(ofRow values: [SQLiteValue]) -> RecordKey { format.key(ofRow: values) }

  /// A key as the engine's tables have it: its one value, or the text of several.
  func rowKey(_ key: RecordKey) -> SQLiteValue {
    if key.values.count == 1, let value = key.values.first { return value }
    return CompoundKey.text(of: key.values)
  }

  /// Which row has a key.
  func rowKey(of key: RecordKey) -> RowKey { RowKey(table: id, key: rowKey(key)) }

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
}
