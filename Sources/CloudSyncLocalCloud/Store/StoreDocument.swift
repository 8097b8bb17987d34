import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A small value of the engine's own, which a store keeps as it is or as bytes.
public struct StoreDocument: Sendable {
  /// What there is to keep beside items.
  enum Content: Sendable {
    case counters(StoreCounters)
    case account(AccountDocument)
    case zone(ZoneDocument)
    case schema(SchemaDocument)
    case answer(AnswerDocument)
    case history(HistoryDocument)
    case assets(AssetsDocument)
  }

  let content: Content

  init(_ content: Content) { self.content = content }

  /// The document as bytes.
  public var bytes: [UInt8] {
    var writer = BinaryWriter()
    switch content {
    case .counters(let value): writer.write(UInt64(6), then: value)
    case .account(let value): writer.write(UInt64(7), then: value)
    case .zone(let value): writer.write(UInt64(2), then: value)
    case .schema(let value): writer.write(UInt64(3), then: value)
    case .answer(let value): writer.write(UInt64(8), then: value)
    case .history(let value): writer.write(UInt64(9), then: value)
    case .assets(let value): writer.write(UInt64(10), then: value)
    }
    return writer.bytes
  }

  /// Reads what ``bytes`` gave.
  ///
  /// - Throws: A `damaged` error if the bytes are others.
  public init(bytes: [UInt8]) throws(LocalCloudStoreError) {
    do throws(CodedError) {
      var reader = BinaryReader(bytes)
      content = try Self.content(from: &reader)
      guard reader.isAtEnd else { throw reader.failure("there is more than a document") }
    } catch {
      throw LocalCloudStoreError(.damaged, "a document cannot be read: \(error)")
    }
  }

  private static func content(from reader: inout BinaryReader) throws(CodedError) -> Content {
    switch try reader.readUInt64() {
    // As version 1 wrote them, without a branch.
    case 0: .counters(try StoreCounters(from: &reader, version: 1))
    // As version 2 wrote them, without a secret and marks.
    case 1: .account(try AccountDocument(from: &reader, hasMark: false))
    case 4: .answer(try AnswerDocument(from: &reader, hasMark: false))
    case 5: .counters(try StoreCounters(from: &reader, version: 2))
    case 2: .zone(try reader.read())
    case 3: .schema(try reader.read())
    case 6: .counters(try reader.read())
    case 7: .account(try reader.read())
    case 8: .answer(try reader.read())
    case 9: .history(try reader.read())
    case 10: .assets(try reader.read())
    case let other: throw reader.failure("\(other) is no kind of document")
    }
  }
}

extension BinaryWriter {
  fileprivate mutating func write(_ kind: UInt64, then value: some CodedValue) {
    write(kind)
    value.write(to: &self)
  }
}

/// What is counted over the whole store.
struct StoreCounters: CodedValue {
  static let key = "counters"

  var accounts: Int64 = 0
  var zones: Int64 = 0
  /// Shapes change tags and change tokens: that of the cloud which wrote first.
  var seed: UInt64 = 0
  /// The branch of the store's history: another one after a backup was restored.
  var branch: UInt64 = 0
  /// Signs change tokens; empty in a store that version 2 has made.
  var secret: [UInt8] = []

  /// Shapes change tags: no two branches of a store give the same ones, and no two marks of an account.
  func tagSeed(mark number: UInt64) -> UInt64 {
    let branched = branch == 0 ? seed : seed ^ SplitMix64.mix(branch)
    return number == 0 ? branched : branched ^ SplitMix64.mix(~number)
  }

  init(seed: UInt64) { self.seed = seed }

  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("accounts", accounts)
      $0.field("zones", zones)
      $0.field("seed", seed)
      $0.field("branch", branch)
      $0.field("secret", Data(secret))
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try self.init(from: &reader, version: 3)
  }

  init<R: CodedReader>(from reader: inout R, version: Int) throws(CodedError) {
    try reader.beginObject()
    accounts = try reader.field("accounts")
    zones = try reader.field("zones")
    seed = try reader.field("seed")
    if version > 1 { branch = try reader.field("branch") }
    if version > 2 { secret = [UInt8](try reader.field("secret") as Data) }
    try reader.endObject()
  }
}

/// An account: its state, and its database's feed.
struct AccountDocument: CodedValue {
  static func key(for identity: AccountIdentity) -> String { "account/\(identity.value)" }

  var number: Int64
  var status: AccountStatus = .available
  /// In bytes; nil for what the options say.
  var quota: Int64?
  var usedBytes: Int64 = 0
  /// The position of the last change of any zone.
  var position: Int64 = 0
  /// Tokens of the database carry it; another one makes them void.
  var generation: Int64 = 0
  /// The stretch of its history that goes on.
  var mark = HistoryMark()

  init(number: Int64) { self.number = number }

  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("number", number)
      $0.field("status", status)
      $0.field("quota", quota)
      $0.field("usedBytes", usedBytes)
      $0.field("position", position)
      $0.field("generation", generation)
      $0.field("mark", mark)
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try self.init(from: &reader, hasMark: true)
  }

  init<R: CodedReader>(from reader: inout R, hasMark: Bool) throws(CodedError) {
    try reader.beginObject()
    number = try reader.field("number")
    status = try reader.field("status")
    quota = try reader.field("quota")
    usedBytes = try reader.field("usedBytes")
    position = try reader.field("position")
    generation = try reader.field("generation")
    if hasMark { mark = try reader.field("mark") }
    try reader.endObject()
  }
}

/// That the files of an account's assets are kept in a folder beside the store, which is moved and copied with it.
///
/// Versions that do not know it never ask for it.
struct AssetsDocument: CodedValue {
  static func key(for identity: AccountIdentity) -> String { "assets/\(identity.value)" }

  init() {}

  func write<W: CodedWriter>(to writer: inout W) { writer.object { _ in } }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.endObject()
  }
}

/// A zone: whether it exists, and its feed.
struct ZoneDocument: CodedValue {
  static func prefix(account: Int64) -> String { "zone/\(account)/" }
  static func key(account: Int64, zoneID: ZoneID) -> String {
    "\(prefix(account: account))\(zoneID.scope.index)/\(zoneID.owner.utf8.count)/\(zoneID.owner)"
      + "/\(zoneID.name)"
  }

  /// The number of its present life, or of its last one.
  var number: Int64
  var zoneID: ZoneID
  /// Why it does not exist; nil while it does.
  var gone: ZoneDeletionReason?
  /// The position of the last change in the zone.
  var lastPosition: Int64 = 0
  /// Tokens of the zone carry it; another one makes them void.
  var generation: Int64 = 0
  /// The position of the last change in the feed of the database.
  var databasePosition: Int64 = 0
  var usedBytes: Int64 = 0
  /// The devices that hear of changes, sorted.
  var subscribers: [String] = []

  init(number: Int64, zoneID: ZoneID) {
    self.number = number
    self.zoneID = zoneID
  }

  var key: StoredZoneKey { StoredZoneKey(number: number, zoneID: zoneID) }

  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("number", number)
      $0.field("zoneID", zoneID)
      $0.field("gone", gone.map { Int64($0.rawValue) })
      $0.field("lastPosition", lastPosition)
      $0.field("generation", generation)
      $0.field("databasePosition", databasePosition)
      $0.field("usedBytes", usedBytes)
      $0.field("subscribers", subscribers)
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    number = try reader.field("number")
    zoneID = try reader.field("zoneID")
    let gone: Int64? = try reader.field("gone")
    if let gone {
      guard let reason = ZoneDeletionReason(rawValue: Int(truncatingIfNeeded: gone)) else {
        throw reader.failure("\(gone) is no reason for which zones are gone")
      }
      self.gone = reason
    }
    lastPosition = try reader.field("lastPosition")
    generation = try reader.field("generation")
    databasePosition = try reader.field("databasePosition")
    usedBytes = try reader.field("usedBytes")
    subscribers = try reader.field("subscribers")
    try reader.endObject()
  }
}
