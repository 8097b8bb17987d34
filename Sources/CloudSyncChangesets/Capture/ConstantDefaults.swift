import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The constants that the defaults of tables are; they are looked up when they are asked for first.
final class ConstantDefaults: Sendable {
  private let known = Locked<Fills?>(nil)

  func fills(
    of tables: TrackedTables
  ) throws(ChangesetError) -> Fills {
    if let fills = known.withLock({ $0 }) { return fills }
    var fills = Fills()
    for table in tables.tables {
      for column in table.columns where table.schema.column(named: column)?.defaultSQL != nil {
        let value = try ColumnDefault.value(of: column, in: table)
        if value != .null { _ = fills.add(.init(column: column, value: value), of: table.name) }
      }
    }
    known.withLock { [fills] in $0 = fills }
    return fills
  }
}

/// The constant that a column's default is.
enum ColumnDefault {
  /// What rows that are there get in a column that is added: NULL unless its default is a literal.
  static func value(of name: String, in table: TrackedTable) throws(ChangesetError) -> SQLiteValue {
    guard let column = table.schema.column(named: name), let sql = column.defaultSQL,
      SQLText(sql).isLiteral
    else { return .null }
    // What the type makes of a literal is no other constant: tables that differ in it were filled with the same.
    let type =
      switch table.affinities[column.name] {
      case .integer, .numeric, .real:
        HistoryMutant.typedDefault.isPresent ? column.type : "NUMERIC"
      default: ""
      }
    return try scratch("\(type) DEFAULT \(sql)", insertion: "DEFAULT VALUES")
  }

  /// What a column of a type makes of a value.
  static func stored(
    _ value: SQLiteValue,
    as type: String
  ) throws(ChangesetError) -> SQLiteValue {
    try scratch(type, insertion: "VALUES(\(value.literal))")
  }

  private static func scratch(
    _ declaration: String,
    insertion: String
  ) throws(ChangesetError) -> SQLiteValue {
    do throws(SQLiteError) {
      // Nothing may be written where a history is only looked at, not even a temporary table.
      let scratch = try SQLiteConnection(path: ":memory:")
      try scratch.execute("CREATE TABLE one(c \(declaration))")
      try scratch.execute("INSERT INTO one \(insertion)")
      return try scratch.value("SELECT c FROM one") ?? .null
    } catch { throw ChangesetError(error) }
  }
}
