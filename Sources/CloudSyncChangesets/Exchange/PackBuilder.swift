import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Puts commits that the cloud has not got into packs.
struct PackBuilder {
  let work: HistoryWork

  /// The most commits and bytes that a pack of several has.
  static let mostCommits: Int64 = 400
  static let mostBytes = 600_000

  /// The next pack of commits above a number that the cloud is not known to have; nil if there are none.
  ///
  /// - Returns: The pack, and the numbers of its commits.
  func next(after seq: Int64) throws(ChangesetError) -> (pack: Pack, numbers: [Int64])? {
    // For what is before the horizon, and for that itself, a snapshot stands.
    let least = try Horizon(work.connection)?.row.generation ?? 0
    try GoneChanges(connection: work.connection).checkNothingIsLost(after: seq, above: least)
    let candidates = try work.connection.rows(
      """
      SELECT seq, length(body) FROM changesets_log
      WHERE seq > ?1 AND remote = 0 AND body IS NOT NULL AND generation > ?3 ORDER BY seq LIMIT ?2
      """,
      .integer(seq),
      .integer(Self.mostCommits),
      .integer(least)
    ) { (seq: $0.integer(0), size: $0.integer(1)) }
    var pack = Pack()
    var numbers: [Int64] = []
    var size = 0
    // By the number of the schema, with whether a commit is there that begins it.
    var schemas: [(number: Int64, isNew: Bool)] = []
    for candidate in candidates {
      size += Int(candidate.size) + 100
      if size > Self.mostBytes, !numbers.isEmpty { break }
      let row = try work.log.row(candidate.seq)
      guard let body = try work.log.body(seq: row.seq) else { continue }
      let isNew = try isFirst(row: row)
      if let place = schemas.firstIndex(where: { $0.number == row.schema }) {
        schemas[place].isNew = schemas[place].isNew || isNew
      } else {
        schemas.append((row.schema, isNew))
      }
      pack.entries.append(Pack.Entry(id: row.id, header: try work.log.header(row: row), body: body))
      numbers.append(row.seq)
    }
    for schema in schemas {
      pack.schemas.append(try description(of: schema.number, isNew: schema.isNew))
    }
    return numbers.isEmpty ? nil : (pack, numbers)
  }

  /// Whether a commit is the first of its line to have its schema.
  private func isFirst(row: LogRow) throws(ChangesetError) -> Bool {
    guard let parent = row.parent else { return true }
    return try work.log.row(parent).schema != row.schema
  }

  /// A schema as it is told: with its declarations where it begins, and when those of the tables here have changed.
  private func description(
    of number: Int64,
    isNew: Bool
  ) throws(ChangesetError) -> SchemaDescription {
    var schema = try work.dictionaries.schema(number: number)
    let isOwn = schema.id == work.tables.id
    if isOwn { schema = work.tables.description }
    if isNew { return schema }
    if isOwn, try work.info.bytes(name: .declared) != Self.digest(of: schema) { return schema }
    schema.declarations = []
    return schema
  }

  /// What tells declarations apart from those that were told.
  static func digest(of schema: SchemaDescription) -> [UInt8] { Digest(of: [schema.bytes]).bytes }

  /// Words about tags and branches that the cloud has not got.
  func tags() throws(ChangesetError) -> [Tags.Entry] {
    try work.connection.rows(
      "SELECT name, kind, id, time FROM changesets_tags WHERE remote = 0 ORDER BY kind, name"
    ) { row in
      Tags.Entry(
        name: row.text(0) ?? "",
        kind: Tags.Kind(rawValue: row.integer(1)) ?? .tag,
        id: row.isNull(2) ? nil : ChangesetID(bytes: row.bytes(2)),
        time: HybridTime(rawValue: row.integer(3))
      )
    }
  }
}
