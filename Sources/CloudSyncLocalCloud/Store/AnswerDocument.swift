import CloudSyncCore

/// What a device's last request did, kept for a repeat of it.
struct AnswerDocument: CodedValue {
  /// What became of one item.
  enum Outcome: CodedValue {
    /// It was saved at a position; nil where the record did not exist before.
    case saved(Int64, creationDate: Timestamp?)
    case deleted
    case failed(SyncError)

    private static let names: [StaticString] = ["saved", "deleted", "failed"]

    func write<W: CodedWriter>(to writer: inout W) {
      switch self {
      case .saved(let position, let creationDate):
        writer.tag(0, of: Self.names)
        writer.write(position)
        writer.field("creationDate", creationDate)
      case .deleted: writer.tag(1, of: Self.names)
      case .failed(let error):
        writer.tag(2, of: Self.names)
        writer.write(error)
      }
    }

    init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      switch try reader.tag(of: Self.names) {
      case 0:
        let position = try reader.readInt64()
        self = .saved(position, creationDate: try reader.field("creationDate"))
      case 1: self = .deleted
      default: self = .failed(try reader.read())
      }
    }
  }

  /// How long a response is kept: a device that repeats a request later has to live with a conflict.
  static let lifetime = Duration.seconds(30 * 86_400)
  /// How many devices' last answers are kept in one zone.
  static let limit = 64

  static let prefix = "answer/"
  static func prefix(account: Int64) -> String { "\(prefix)\(account)/" }
  static func key(account: Int64, device: String, zoneID: ZoneID) -> String {
    "\(prefix(account: account))\(device.utf8.count)/\(device)/\(zoneID.name)"
  }

  var token: WriteToken
  /// Tells requests apart by the names of their items.
  var digest: UInt64
  /// The life of the zone.
  var zone: Int64
  var time: Timestamp
  /// The number of the mark under which records were saved.
  var mark: UInt64
  var outcomes: [Outcome]

  init(
    token: WriteToken,
    digest: UInt64,
    zone: Int64,
    time: Timestamp,
    mark: UInt64,
    outcomes: [Outcome]
  ) {
    self.token = token
    self.digest = digest
    self.zone = zone
    self.time = time
    self.mark = mark
    self.outcomes = outcomes
  }

  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("token", token)
      $0.field("digest", digest)
      $0.field("zone", zone)
      $0.field("time", time)
      $0.field("mark", mark)
      $0.field("outcomes", outcomes)
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try self.init(from: &reader, hasMark: true)
  }

  init<R: CodedReader>(from reader: inout R, hasMark: Bool) throws(CodedError) {
    try reader.beginObject()
    token = try reader.field("token")
    digest = try reader.field("digest")
    zone = try reader.field("zone")
    time = try reader.field("time")
    mark = hasMark ? try reader.field("mark") : 0
    outcomes = try reader.field("outcomes")
    try reader.endObject()
  }

  /// Tells two requests apart: names in order, change tags, and which of them are deletions.
  static func digest(operation: ModifyOperation) -> UInt64 {
    var hash = UTF8Bytes.mix(UInt64(operation.records.count), UInt64(operation.itemCount))
    for record in operation.records {
      hash = UTF8Bytes.stableHash(text: record.recordID.name, seed: hash)
      if let tag = record.changeTag { hash = UTF8Bytes.stableHash(text: tag, seed: hash) }
    }
    for recordID in operation.recordIDsToDelete {
      hash = UTF8Bytes.stableHash(text: recordID.name, seed: hash)
    }
    return hash
  }
}
