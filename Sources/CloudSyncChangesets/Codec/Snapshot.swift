import CloudSyncSQLiteSupport

/// The state of a commit, for those who get nothing of what was before it.
struct Snapshot: Sendable, Hashable {
  var schema: SchemaDescription
  /// What the commit says of itself.
  var header: CommitHeader
  /// The canonical head and body of the commit, which its identifier is the digest of.
  var head: [UInt8]
  var body: [UInt8]
  /// All rows as insertions, with what columns were filled with, in the form of a commit's body.
  var state: [UInt8]
  /// The beginnings of the identifiers of all commits before it, in order.
  var below: [UInt8]

  static let recordType = "ChangesetSnapshot"
  private static let magic = Array("cloudsync-snapshot".utf8)
  private static let format: UInt8 = 1
  /// The most bytes of a state: SQLite's limit of a value.
  static let largestState = 900_000_000

  var id: ChangesetID { ChangesetID(digestOf: head, body) }

  /// The name of a record that holds these bytes.
  static func name(of bytes: [UInt8]) -> String {
    "snapshot-" + Hexadecimal.text(of: Digest(of: [bytes]).bytes.prefix(16))
  }

  init(
    schema: SchemaDescription,
    commit: Commit,
    head: [UInt8],
    body: [UInt8],
    state: StateDelta,
    below: [UInt8]
  ) {
    self.schema = schema
    (header, self.head, self.body, self.below) = (commit.header, head, body, below)
    self.state = CommitWriter.body(
      of: Commit(header: header, changes: state, conflicts: commit.conflicts)
    )
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(raw: Self.magic)
    writer.write(byte: Self.format)
    for part in [schema.bytes, head, body, state, below] { writer.write(counted: part) }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    guard try reader.raw(Self.magic.count).elementsEqual(Self.magic) else {
      throw ByteFault("it is no snapshot")
    }
    let format = try reader.byte()
    guard format > 0 else { throw ByteFault("it is of no format") }
    guard format <= Self.format else {
      throw ByteFault("it was written by a newer version; update the app, and it is fetched again")
    }
    schema = try SchemaDescription(bytes: Array(try reader.counted()))
    head = Array(try reader.counted())
    body = Array(try reader.counted())
    state = Array(try reader.counted())
    below = Array(try reader.counted())
    guard reader.isAtEnd else { throw ByteFault("something follows its end") }
    let commit = try CommitReader.commit(head + body)
    header = commit.header
    guard schema.id == header.schema, below.count % ChangesetID.beginningLength == 0 else {
      throw ByteFault("its parts are not of one commit")
    }
    let whole = try self.whole()
    guard CommitWriter.body(of: whole) == state,
      whole.changes.tables.allSatisfy({ $0.rows.allSatisfy { $0.kind == .insert } })
    else { throw ByteFault("it is not in its canonical form") }
  }

  /// The commit as if it were the first: all rows are its changes.
  func whole() throws(ByteFault) -> Commit {
    var reader = ByteReader(state)
    var header = header
    header.parents = []
    let commit = try CommitReader.body(&reader, header: &header)
    guard reader.isAtEnd else { throw ByteFault("something follows its end") }
    return commit
  }
}
