import CloudSyncSQLiteSupport

/// What a replica tells the others of squashes: the only thing in a zone that is written anew.
struct ReplicaReport: Sendable, Hashable {
  /// A commit, and how far from the beginning it is.
  struct Place: Sendable, Hashable {
    var id: ChangesetID
    var generation: Int64
  }

  /// A name that a copy of a database had before it found that another one has it too, with its last commits under it.
  struct Former: Sendable, Hashable {
    var name: String
    var ends: [ChangesetID]
  }

  var replica: String
  var formers: [Former] = []
  /// The commit of a snapshot that all of its work goes on from, now and later.
  var reached: Place?
  /// The commit that the history begins with for everybody.
  var horizon: Place?

  static let recordType = "ChangesetReplica"
  private static let magic = Array("cloudsync-replica".utf8)
  private static let format: UInt8 = 1

  /// The name of a replica's record.
  static func recordName(of replica: String) -> String {
    "replica-" + Hexadecimal.text(of: Digest(of: [Array(replica.utf8)]).bytes.prefix(16))
  }

  init(replica: String, reached: Place? = nil, horizon: Place? = nil) {
    (self.replica, self.reached, self.horizon) = (replica, reached, horizon)
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(raw: Self.magic)
    writer.write(byte: Self.format)
    writer.write(replica)
    for place in [reached, horizon] {
      writer.write(counted: place?.id.bytes ?? [])
      if let place { writer.write(UInt64(place.generation)) }
    }
    for former in formers { former.write(to: &writer) }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    guard try reader.raw(Self.magic.count).elementsEqual(Self.magic),
      try reader.byte() == Self.format
    else { throw ByteFault("it is no report of a known format") }
    replica = try reader.text()
    reached = try Self.place(reader: &reader)
    horizon = try Self.place(reader: &reader)
    while !reader.isAtEnd { formers.append(try Former(&reader)) }
  }

  private static func place(reader: inout ByteReader) throws(ByteFault) -> Place? {
    let bytes = try reader.counted()
    if bytes.isEmpty { return nil }
    guard let id = ChangesetID(bytes: bytes) else { throw ByteFault("a commit is none") }
    let generation = try reader.number()
    guard generation > 0, generation < 1 << 62 else { throw ByteFault("a generation is none") }
    return Place(id: id, generation: Int64(generation))
  }
}

extension ReplicaReport.Former {
  func write(to writer: inout ByteWriter) {
    writer.write(name)
    writer.write(count: ends.count)
    for id in ends { writer.write(raw: id.bytes) }
  }

  init(_ reader: inout ByteReader) throws(ByteFault) {
    name = try reader.text()
    ends = []
    for _ in 0..<(try reader.number()) {
      guard let id = ChangesetID(bytes: try reader.raw(32)) else {
        throw ByteFault("a commit is none")
      }
      ends.append(id)
    }
  }
}
