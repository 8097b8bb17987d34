import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Commits as they travel: parents before children, with the schemas that they are of, and tags.
///
/// Identifiers are not in it: they are computed, so that nothing false can be told about them.
struct Pack: Sendable, Hashable {
  /// A commit with its coded body.
  struct Entry: Sendable, Hashable {
    var id: ChangesetID
    var header: CommitHeader
    var body: [UInt8]
  }

  var schemas: [SchemaDescription] = []
  var entries: [Entry] = []
  var tags: [Tags.Entry] = []

  private static let magic = Array("cloudsync-pack".utf8)
  private static let format: UInt8 = 1

  /// What the names of packs begin with.
  static let namePrefix = "pack-"

  /// The name of a record that holds these bytes.
  static func name(of bytes: [UInt8]) -> String {
    namePrefix + Hexadecimal.text(of: Digest(of: [bytes]).bytes.prefix(16))
  }

  // MARK: Writing

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(raw: Self.magic)
    writer.write(byte: Self.format)
    writer.write(count: schemas.count)
    for schema in schemas { writer.write(counted: schema.bytes) }
    let schemaPlaces = Self.places(elements: schemas.map(\.id))
    let branches = Self.distinct(names: entries.map(\.header.branch))
    writer.write(count: branches.count)
    for branch in branches { writer.write(branch) }
    let branchPlaces = Self.places(elements: branches)
    var commitPlaces: [ChangesetID: Int] = [:]
    writer.write(count: entries.count)
    for (place, entry) in entries.enumerated() {
      let header = entry.header
      writer.write(byte: header.kind.rawValue | UInt8(header.parents.count) << 4)
      writer.write(count: schemaPlaces[header.schema] ?? 0)
      for parent in header.parents {
        // How many commits before, or 0 and the identifier.
        let distance = commitPlaces[parent].map { place - $0 } ?? 0
        writer.write(count: distance)
        if distance == 0 { writer.write(raw: parent.bytes) }
      }
      writer.write(UInt64(header.generation))
      writer.write(signed: header.time.rawValue)
      writer.write(count: branchPlaces[header.branch] ?? 0)
      writer.writeBigEndian(word: header.stateHash.high)
      writer.writeBigEndian(word: header.stateHash.low)
      writer.write(counted: entry.body)
      commitPlaces[entry.id] = place
    }
    writer.write(count: tags.count)
    for tag in tags {
      writer.write(byte: UInt8(tag.kind.rawValue))
      writer.write(tag.name)
      writer.write(counted: tag.id?.bytes ?? [])
      writer.write(signed: tag.time.rawValue)
    }
    return writer.bytes
  }

  private static func distinct(names: [String]) -> [String] {
    var known: Set<String> = []
    return names.filter { known.insert($0).inserted }
  }

  private static func places<Element: Hashable>(elements: [Element]) -> [Element: Int] {
    Dictionary(elements.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Reading

  init() {}

  init(_ bytes: [UInt8]) throws(PackFault) {
    var reader = ByteReader(bytes)
    do throws(ByteFault) {
      guard try reader.raw(Self.magic.count).elementsEqual(Self.magic) else {
        throw ByteFault("it is no pack of commits")
      }
      let format = try reader.byte()
      guard format <= Self.format else { throw ByteFault("") }
      try read(reader: &reader)
      guard reader.isAtEnd else { throw ByteFault("something follows its end") }
    } catch {
      throw error.reason.isEmpty ? .newer : .damaged(error)
    }
  }

  private mutating func read(reader: inout ByteReader) throws(ByteFault) {
    for _ in 0..<(try reader.count()) {
      schemas.append(try SchemaDescription(bytes: try reader.counted()))
    }
    let ids = schemas.map(\.id)
    var branches: [String] = []
    for _ in 0..<(try reader.count(ofAtLeast: 2)) { branches.append(try reader.text()) }
    for _ in 0..<(try reader.count(ofAtLeast: 24)) {
      entries.append(try entry(reader: &reader, schemas: ids, branches: branches))
    }
    for _ in 0..<(try reader.count(ofAtLeast: 4)) { tags.append(try tag(reader: &reader)) }
  }

  private func entry(
    reader: inout ByteReader,
    schemas: [SchemaID],
    branches: [String]
  ) throws(ByteFault) -> Entry {
    let mark = try reader.byte()
    guard let kind = CommitHeader.Kind(rawValue: mark & 15) else {
      throw ByteFault("a commit is of no known kind")
    }
    let schema = try reader.number()
    guard schema < UInt64(schemas.count) else { throw ByteFault("a commit has no schema") }
    var parents: [ChangesetID] = []
    for _ in 0..<(mark >> 4) {
      let distance = try reader.number()
      guard distance <= UInt64(entries.count) else { throw ByteFault("a parent is not there") }
      if distance > 0 {
        parents.append(entries[entries.count - Int(distance)].id)
      } else {
        guard let id = ChangesetID(bytes: try reader.raw(32)) else { throw ByteFault("no parent") }
        parents.append(id)
      }
    }
    let generation = Int64(bitPattern: try reader.number())
    let time = HybridTime(rawValue: try reader.signed())
    let branch = try reader.number()
    guard branch < UInt64(branches.count) else { throw ByteFault("a commit has no branch") }
    let hash = StateHash(high: try reader.bigEndian(), low: try reader.bigEndian())
    let header = CommitHeader(
      kind: kind,
      schema: schemas[Int(schema)],
      parents: parents,
      generation: generation,
      time: time,
      branch: branches[Int(branch)],
      stateHash: hash
    )
    let body = Array(try reader.counted())
    let id = ChangesetID(digestOf: CommitWriter.head(of: header), body)
    return Entry(id: id, header: header, body: body)
  }

  private func tag(reader: inout ByteReader) throws(ByteFault) -> Tags.Entry {
    guard let kind = Tags.Kind(rawValue: Int64(try reader.byte())) else {
      throw ByteFault("a tag is of no known kind")
    }
    let name = try reader.text()
    guard name.isValidName(upTo: CommitReader.longestName) else {
      throw ByteFault("a name is none")
    }
    let bytes = try reader.counted()
    let id = bytes.isEmpty ? nil : ChangesetID(bytes: bytes)
    guard id != nil || bytes.isEmpty else { throw ByteFault("a tag has no commit") }
    let time = HybridTime(rawValue: try reader.signed())
    guard time >= .zero, time < CommitReader.limit else {
      throw ByteFault("a time is out of range")
    }
    return Tags.Entry(name: name, kind: kind, id: id, time: time)
  }
}

/// Why a pack cannot be used.
enum PackFault: Error {
  case newer
  case damaged(ByteFault)

  var reason: String {
    switch self {
    case .newer: "it was written by a newer version; update the app, and it is fetched again"
    case .damaged(let fault): fault.reason
    }
  }
}

extension Pack.Entry {
  /// The whole commit, in its canonical form.
  func commit() throws(ChangesetError) -> Commit {
    do throws(ByteFault) {
      return try CommitReader.commit(CommitWriter.head(of: header) + body)
    } catch { throw ChangesetError(.damaged, "commit \(id.short) cannot be read: \(error.reason)") }
  }
}
