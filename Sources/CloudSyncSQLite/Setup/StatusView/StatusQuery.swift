import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The status of all rows, as SQL over the engine's own tables.
///
/// It names tables by their numbers, and only those whose keys or record types are not what most have: so the
/// text is another one only if such a table is.
struct StatusQuery {
  /// The tables that are or were captured.
  private let tables: [RegisteredTable]

  init(_ tables: [RegisteredTable]) { self.tables = tables }

  /// All rows, in the columns of ``StatusView``.
  var sql: String {
    var parts = selects(isCompound: false)
    if !compound.isEmpty { parts += selects(isCompound: true) }
    return (parts + [foreignRecords, unseenTables]).joined(separator: "\nUNION ALL ")
  }

  /// The rows whose edits no engine has read, each once: `table_id` and `key`.
  var unread: String { "SELECT DISTINCT table_id, \(unreadKey) AS key FROM cloudsync_outbox" }

  /// Whether there is no unread edit of a row, by its table and its key.
  ///
  /// SQLite looks for `NOT IN` through the whole list, since NULL might be in it; for `IN` in a condition it
  /// does not.
  func isRead(rowOf row: String) -> String {
    "CASE WHEN (\(row)) IN (\(unread)) THEN 0 ELSE 1 END"
  }

  /// The status of a pending row `p`.
  var pendingStatus: String {
    """
    CASE WHEN p.error_code IS NOT NULL THEN 'parked' WHEN p.waits_for IS NOT NULL THEN 'waiting'
    WHEN (p.table_id, p.key) IN (\(unread)) THEN 'dirty'
    WHEN p.filtered_by IS NOT NULL THEN 'local' WHEN p.is_dirty THEN 'dirty' ELSE 'clean' END
    """
  }

  /// Whether a pending row `p` is one for users: a tombstone that the cloud has is none.
  var isShown: String {
    """
    (NOT p.is_tombstone OR p.is_dirty AND p.filtered_by IS NULL OR p.error_code IS NOT NULL OR p.is_deferred IS NOT NULL
      OR (p.table_id, p.key) IN (\(unread)))
    """
  }

  /// What is told of a row whose key another one has got: SQLite's code, the reason, and that it waits for no record.
  static let displaced =
    "1555, 'another row was given its key on another device; it comes back when that one gets another', NULL"

  /// Pending rows `p`, each as often as there are rows whose key it has got.
  static let displacing = """
    cloudsync_pending p INDEXED BY cloudsync_pending_displacing CROSS JOIN (
      WITH RECURSIVE series(place) AS (
        SELECT 1 UNION ALL SELECT place + 1 FROM series WHERE place < \(RecordVersion.endedLimit)
      ) SELECT place FROM series) s
    """

  /// Which of them count: the column holds how many rows there are.
  static let isDisplacing = "p.is_displacing IS NOT NULL AND s.place <= p.is_displacing"

  // MARK: Rows

  private func selects(isCompound: Bool) -> [String] {
    [
      select(
        (isCompound, "k", "NULL", "'clean'", "NULL, NULL, NULL"),
        from: "cloudsync_known k",
        where: isRead(rowOf: "k.table_id, k.key")
      ),
      select(
        (isCompound, "p", "p.record_name", pendingStatus, "p.error_code, p.error, p.waits_for"),
        from: "cloudsync_pending p",
        where: isShown
      ),
      select(
        (isCompound, "p", "p.record_name", "'parked'", Self.displaced),
        from: Self.displacing,
        where: Self.isDisplacing
      ),
      select(
        (isCompound, "u", "NULL", "'dirty'", "NULL, NULL, NULL"),
        from: "(\(unread)) u",
        where: """
          NOT EXISTS(
            SELECT 1 FROM cloudsync_pending p WHERE p.table_id = u.table_id AND p.key = u.key)
          """
      ),
    ]
  }

  /// One kind of rows: by what name, and what of them is shown.
  private typealias Shown = (
    isCompound: Bool, row: String, recordName: String, status: String, rest: String
  )

  private func select(_ shown: Shown, from source: String, where condition: String) -> String {
    let key = "\(shown.row).key"
    let literals = shown.isCompound ? CompoundKey.literalsSQL(of: key) : key
    let name =
      shown.recordName == "NULL" && !shown.isCompound ? recordName(key) : shown.recordName
    let filter =
      compound.isEmpty
      ? "" : " AND t.id \(shown.isCompound ? "" : "NOT ")IN (\(list(compound)))"
    return """
      SELECT t.name AS table_name, \(literals) AS key, \(name) AS record_name,
        \(shown.status) AS status, \(columns(and: shown.rest))
      FROM \(source) JOIN cloudsync_tables t ON t.id = \(shown.row).table_id
      WHERE t.is_synchronized\(filter) AND \(condition)
      """
  }

  private func columns(and rest: String) -> String {
    let values = rest.split(separator: ", ")
    return zip(values, ["error_code", "error", "waits_for"]).map { "\($0) AS \($1)" }
      .joined(separator: ", ")
  }

  /// What the cloud has and nobody can read.
  private var foreignRecords: String {
    """
    SELECT NULL, NULL, record_name, 'parked', 12, error, NULL
    FROM cloudsync_foreign_records WHERE error IS NOT NULL
    """
  }

  /// The tables of whose rows nobody has looked at all.
  private var unseenTables: String {
    """
    SELECT t.name, NULL, NULL, 'dirty', NULL, NULL, NULL
    FROM cloudsync_facts f JOIN cloudsync_tables t
    WHERE f.key = '\(Facts.Name.unreconciled.rawValue)' AND t.is_synchronized
      AND instr(',' || f.value || ',', ',' || t.id || ',')
    """
  }

  // MARK: Keys and names

  /// The tables whose keys have several columns.
  private var compound: [Int64] { tables.filter { $0.key.count > 1 }.map(\.id) }

  private func list(_ ids: [Int64]) -> String { ids.map { "\($0)" }.joined(separator: ", ") }

  /// The key of an edit as the engine's other tables have it.
  private var unreadKey: String {
    let plain = [KeyCollation.binary]
    var shapes: [(collations: [KeyCollation], tables: [Int64])] = []
    for table in tables {
      let collations = table.key.map(\.collation)
      if collations == plain { continue }
      if let place = shapes.firstIndex(where: { $0.collations == collations }) {
        shapes[place].tables.append(table.id)
      } else {
        shapes.append((collations, [table.id]))
      }
    }
    if shapes.isEmpty { return "k0" }
    let cases = shapes.map { shape in
      let key = shape.collations.enumerated()
        .map { KeyColumn(name: "k\($0)", collation: $1) }
      let sql = CompoundKey.sql(of: key, in: "cloudsync_outbox")
      return "WHEN table_id IN (\(list(shape.tables))) THEN \(sql)"
    }
    return "CASE \(cases.joined(separator: " ")) ELSE k0 END"
  }

  /// The name of the record of a row with a key of one column, as far as SQL can tell it.
  private func recordName(_ key: String) -> String {
    let others = tables.compactMap { table -> String? in
      guard let type = CloudName.recordType(ofTable: table.name),
        !UTF8Bytes.equal(type, table.name)
      else { return nil }
      return "WHEN \(table.id) THEN \(SQLiteValue.text(type).literal)"
    }
    let type =
      others.isEmpty ? "t.name" : "CASE t.id \(others.joined(separator: " ")) ELSE t.name END"
    let room = "\(RecordRules.maximumNameLength - 1) - length(\(type))"
    return """
      CASE typeof(\(key)) WHEN 'integer' THEN '~i' || \(key) || ':' || \(type)
      WHEN 'text' THEN CASE WHEN \(key) NOT GLOB '*[^ -~]*' AND \(key) NOT GLOB '[_~]*'
        AND length(CAST(\(key) AS BLOB)) = length(\(key)) * length(CAST('~' AS BLOB))
        AND length(\(key)) <= \(room)
        THEN \(key) || ':' || \(type) END
      WHEN 'blob' THEN CASE WHEN 2 * length(\(key)) + 2 <= \(room)
        THEN '~b' || lower(hex(\(key))) || ':' || \(type) END END
      """
  }
}

extension CompoundKey {
  /// The values of a key of several columns as literals with commas between them, as SQL: the text is read
  /// value by value, by its bytes where they are UTF-8, since no other way goes on behind a NUL.
  static func literalsSQL(of key: String) -> String {
    let kind = "CAST(substr(rest, 1, 1) AS TEXT)"
    let end = "CASE typeof(rest) WHEN 'blob' THEN instr(rest, x'3b') ELSE instr(rest, ';') END"
    let content = "CAST(substr(rest, 2, \(end) - 2) AS TEXT)"
    return """
      coalesce((WITH RECURSIVE part(rest, list) AS (
        SELECT CASE WHEN CAST(';' AS BLOB) = x'3b' THEN CAST(\(key) AS BLOB) ELSE \(key) END, ''
        UNION ALL SELECT substr(rest, \(end) + 1),
          list || ',' || CASE \(kind) WHEN 'n' THEN 'NULL'
            WHEN 's' THEN quote(replace(replace(\(content), '~1', ';'), '~0', '~'))
            WHEN 'b' THEN 'x''' || \(content) || '''' ELSE \(content) END
        FROM part WHERE \(end) > 0
      ) SELECT substr(list, 2) FROM part WHERE length(rest) = 0), \(key))
      """
  }
}
