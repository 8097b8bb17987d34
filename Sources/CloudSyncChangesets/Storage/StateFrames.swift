import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds what the hashes of states leave out, by the lines of commits that lead to them.
///
/// The constants of columns are few, and mostly none are known: then there is nothing to find. Where no line
/// began with a column that was added on another, the schema of a commit tells all.
final class StateFrames {
  private let connection: HistoryConnection
  private(set) var all: Fills
  private var schemas: [Int64: SchemaDescription] = [:]
  private var isAlike: Bool?
  /// By number; only where lines are unlike.
  private var known: [Int64: HashFrame] = [:]
  /// The commits that lines begin with in the midst, as snapshots tell.
  private var roots: [SnapshotRoots.Root] = []

  private var dictionaries: Dictionaries { Dictionaries(connection: connection) }

  init(_ connection: HistoryConnection) throws(ChangesetError) {
    self.connection = connection
    all = try Fills.read(connection)
    if !all.tables.isEmpty { roots = try SnapshotRoots(connection: connection).all() }
  }

  /// Reads the constants again: a commit has brought new ones.
  func refresh() throws(ChangesetError) {
    all = try Fills.read(connection)
    roots = try SnapshotRoots(connection: connection).all()
    (isAlike, known) = (nil, [:])
  }

  /// Of a commit's state; nil is the empty database.
  func frame(of row: LogRow?) throws(ChangesetError) -> HashFrame {
    if all.tables.isEmpty { return HashFrame() }
    guard let row else { return HashFrame(absent: all.tables.mapValues { Set($0.keys) }) }
    if try linesAreAlike() { return try frame(schema: row.schema) { _, _ in true } }
    if let frame = known[row.seq] { return frame }
    for root in roots where known[root.seq] == nil {
      known[root.seq] = try frame(of: root, schema: try schemaNumber(seq: root.seq) ?? row.schema)
    }
    if let frame = known[row.seq] { return frame }
    let frame: HashFrame
    if let parent = row.parent, let before = known[parent] {
      frame = try self.frame(schema: row.schema, after: before, try schemaNumber(seq: parent))
    } else {
      frame = try walk(to: row.seq)
    }
    known[row.seq] = frame
    return frame
  }

  /// Of the state of a commit that is made on another, or on the empty database.
  func frame(
    of schema: @autoclosure () throws(ChangesetError) -> Int64,
    after parent: LogRow?
  ) throws(ChangesetError) -> HashFrame {
    if all.tables.isEmpty { return HashFrame() }
    let schema = try schema()
    guard let parent else { return try frame(schema: schema, after: HashFrame(), nil) }
    return try frame(schema: schema, after: try frame(of: parent), parent.schema)
  }

  /// What becomes of what is left out when a line goes on with a schema.
  private func frame(
    schema: Int64,
    after frame: HashFrame,
    _ former: Int64?
  ) throws(ChangesetError) -> HashFrame {
    if schema == former { return frame }
    let before = try former.map { (number) throws(ChangesetError) in try description(number) }
    return try self.frame(schema: schema) { table, column in
      // A table that is new has all columns from its beginning.
      guard let known = before?.table(table) else { return false }
      return known.column(column) == nil || frame.fills.tables[table]?[column] != nil
    }
  }

  /// Of a state that a line begins with in the midst.
  private func frame(
    of root: SnapshotRoots.Root,
    schema: Int64
  ) throws(ChangesetError) -> HashFrame {
    try frame(schema: schema) { table, column in root.fills.tables[table]?[column] != nil }
  }

  private func frame(
    schema: Int64,
    isFilled: (String, String) -> Bool
  ) throws(ChangesetError) -> HashFrame {
    let description = try description(schema)
    var frame = HashFrame()
    for (table, columns) in all.tables {
      let declared = description.table(table)
      for (column, value) in columns {
        if declared?.column(column) == nil {
          frame.absent[table, default: []].insert(column)
        } else if isFilled(table, column) {
          _ = frame.fills.add(TableDelta.Fill(column: column, value: value), of: table)
        }
      }
    }
    return frame
  }

  private func description(_ number: Int64) throws(ChangesetError) -> SchemaDescription {
    if let known = schemas[number] { return known }
    let description = try dictionaries.schema(number: number)
    schemas[number] = description
    return description
  }

  // MARK: Lines

  private func schemaNumber(seq: Int64) throws(ChangesetError) -> Int64? {
    try connection.integer(
      "SELECT schema FROM changesets_log WHERE seq = ?1",
      .integer(seq)
    )
  }

  /// The frame at the end of a line, from its beginning or the last state that is known.
  private func walk(to end: Int64) throws(ChangesetError) -> HashFrame {
    var (steps, next): ([(seq: Int64, schema: Int64)], Int64?) = ([], end)
    var (frame, former): (HashFrame, Int64?) = (HashFrame(), nil)
    while let seq = next {
      let step = try connection.row(
        "SELECT schema, parent FROM changesets_log WHERE seq = ?1",
        .integer(seq)
      ) { (schema: $0.integer(0), parent: $0.isNull(1) ? nil : $0.integer(1)) }
      guard let step else { break }
      if let known = known[seq] {
        (frame, former) = (known, step.schema)
        break
      }
      steps.append((seq, step.schema))
      next = step.parent
    }
    for step in steps.reversed() where step.schema != former {
      frame = try self.frame(schema: step.schema, after: frame, former)
      former = step.schema
    }
    return frame
  }

  /// Whether every column with a constant was added on every line that has it.
  private func linesAreAlike() throws(ChangesetError) -> Bool {
    if let isAlike { return isAlike }
    let stored = try Info(connection).integer(.lines)
    let isAlike: Bool =
      if let stored { stored == 1 } else { try looksAlike() }
    self.isAlike = isAlike
    return isAlike
  }

  private func looksAlike() throws(ChangesetError) -> Bool {
    let beginnings = try connection.rows(
      """
      SELECT DISTINCT l.schema, p.schema FROM changesets_log l
      LEFT JOIN changesets_log p ON p.seq = l.parent
      WHERE p.schema IS NOT l.schema AND (l.parent IS NOT NULL OR l.seq NOT IN (\(rootNumbers)))
      """
    ) { (schema: $0.integer(0), former: $0.isNull(1) ? nil : $0.integer(1)) }
    for root in roots {
      let schema = try schemaNumber(seq: root.seq)
      guard let schema,
        try frame(of: root, schema: schema) == frame(schema: schema, isFilled: { _, _ in true })
      else { return false }
    }
    for beginning in beginnings {
      let schema = try description(beginning.schema)
      let former = try beginning.former.map { (number) throws(ChangesetError) in
        try description(number)
      }
      for (name, columns) in all.tables {
        guard let table = schema.table(name), former?.table(name) == nil else { continue }
        if columns.keys.contains(where: { table.column($0) != nil }) { return false }
      }
    }
    return true
  }

  private var rootNumbers: String { roots.map { "\($0.seq)" }.joined(separator: ", ") }

  /// Keeps whether lines are alike, which takes a look at the whole log; in a transaction that writes.
  func keep() throws(ChangesetError) {
    guard !all.tables.isEmpty, try Info(connection).integer(.lines) == nil else { return }
    try Info(connection).set(.lines, .integer(try linesAreAlike() ? 1 : 0))
  }

  /// Notes that a commit was appended: a line that begins, or goes on with another schema, may be unlike others.
  func notice(row: LogRow, after parent: LogRow?) throws(ChangesetError) {
    guard parent?.schema != row.schema else { return }
    try Self.forget(connection)
    isAlike = nil
  }

  static func forget(_ connection: HistoryConnection) throws(ChangesetError) {
    try connection.run("DELETE FROM changesets_info WHERE name = 'lines'")
  }
}
