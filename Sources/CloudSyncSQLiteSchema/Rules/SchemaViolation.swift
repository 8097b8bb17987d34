/// A rule of synchronization that a table does not keep.
///
/// It names the table, the column and the rule, and carries the SQL that repairs the table where SQL can.
public struct SchemaViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rules; more may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The rule's stable name.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(_ name: String) { rawValue = name }

    /// The database has no table of that name.
    public static let missingTable = Self("missingTable")
    /// The name is a view's, a virtual table's or an internal table's.
    public static let notATable = Self("notATable")
    /// The table has no primary key.
    public static let missingPrimaryKey = Self("missingPrimaryKey")
    /// The primary key is one integer, which two devices would both give to rows of theirs.
    public static let integerPrimaryKey = Self("integerPrimaryKey")
    /// The primary key is one number of another type, which may count rows as an integer does.
    public static let numericPrimaryKey = Self("numericPrimaryKey")
    /// A column is NOT NULL and has no default, so a row of an older version cannot be stored.
    public static let nonNullColumnMustHaveDefault = Self("nonNullColumnMustHaveDefault")
    /// The primary key may hold NULL, and a row whose key does cannot be named.
    public static let nullablePrimaryKey = Self("nullablePrimaryKey")
    /// Rows that two devices make on their own may break a unique key.
    public static let uniqueConstraintDisallowed = Self("uniqueConstraintDisallowed")
    /// Rows that two devices make on their own may break a unique key of computed columns, and no policy can settle it.
    public static let computedUniqueConstraint = Self("computedUniqueConstraint")
    /// Rows that are inserted without a value are equal in a unique key, because its columns have constant defaults.
    public static let defaultInUniqueKey = Self("defaultInUniqueKey")
    /// A foreign key refers to a table that is not synchronized.
    public static let foreignKeyToUnsynchronizedTable = Self("foreignKeyToUnsynchronizedTable")
    /// The cloud cannot hold the table's name in any spelling.
    public static let invalidTableName = Self("invalidTableName")
    /// The cloud cannot hold the column's name in any spelling.
    public static let invalidColumnName = Self("invalidColumnName")
    /// A default calls `uuid()`, which SQLite lacks: only connections of the engine can insert.
    public static let uuidFunctionMissing = Self("uuidFunctionMissing")
    /// The table is called as triggers call a row, `new`, or as another one but for the Unicode form of the name.
    public static let ambiguousTableName = Self("ambiguousTableName")
    /// Two columns have names that differ only in their Unicode form.
    public static let ambiguousColumnName = Self("ambiguousColumnName")
    /// A column of the primary key is declared without a type.
    public static let untypedPrimaryKey = Self("untypedPrimaryKey")
    /// A column of the primary key has one collation in the key and another one by itself.
    public static let keyCollation = Self("keyCollation")
    /// The connection lacks a collation that a column or an index of the table is declared with.
    public static let missingCollation = Self("missingCollation")
    /// The table has more columns than triggers can compare.
    public static let tooManyColumns = Self("tooManyColumns")
    /// A trigger of the app's writes rows that are synchronized, for what comes from other devices too.
    public static let writingTrigger = Self("writingTrigger")
    /// A column that is to stay on one device is needed by others.
    public static let localColumn = Self("localColumn")
    /// A history of changesets is kept of the table, or of one that refers to it.
    public static let historyTable = Self("historyTable")
    /// A column that the cloud is to encrypt is needed in a form that everybody can read.
    public static let encryptedColumn = Self("encryptedColumn")
    /// The condition of the rows that are sent cannot be evaluated for a row by itself; as a warning, rows that refer to
    /// rows which are not sent have to wait.
    public static let rowFilter = Self("rowFilter")
    /// The options name a table or a column that is not there.
    public static let unknownOption = Self("unknownOption")
    /// The default of a column is no constant, so it may differ from device to device.
    public static let computedDefault = Self("computedDefault")
    /// Rows refer to rows that are not there, so devices that enforce foreign keys cannot store them.
    public static let danglingReference = Self("danglingReference")
  }

  /// The rule.
  public let code: Code
  /// The table, spelled as the database spells it where it has it.
  public let table: String
  /// The column; several, with commas between them, for a key of several; nil if it is about the table.
  public let column: String?
  /// The rule and what breaks it, in one sentence.
  public let reason: String
  /// Statements that repair the table, for a connection that is in no transaction; nil if none can.
  ///
  /// All violations of one table have the same, which repairs all of them: run it once. Only that of a violation of
  /// ``Code/uniqueConstraintDisallowed`` or ``Code/computedUniqueConstraint`` drops unique keys too, and is another one
  /// therefore.
  public let sql: String?
  /// Whether synchronization works all the same.
  public let isWarning: Bool

  /// Creates a violation.
  public init(
    _ code: Code,
    table: String,
    column: String? = nil,
    reason: String,
    sql: String? = nil,
    isWarning: Bool = false
  ) {
    self.code = code
    self.table = table
    self.column = column
    self.reason = reason
    self.sql = sql
    self.isWarning = isWarning
  }

  /// Whether it is about a unique key, which only its own SQL drops.
  package var isOfUniqueKey: Bool {
    code == .uniqueConstraintDisallowed || code == .computedUniqueConstraint
  }

  /// The reason, with its severity, in one line.
  public var description: String { "\(isWarning ? "warning" : "error"): \(reason)" }
}
