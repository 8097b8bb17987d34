import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is inside a change token.
///
/// The bytes are shuffled and signed, so that nobody reads an order out of them, and a forged or
/// damaged one is noticed.
struct FeedToken {
  /// Which feed it belongs to.
  enum Feed: UInt64 {
    case zone
    case database
  }

  var feed: Feed
  /// Tells zones apart by name; 0 for a database.
  var zoneHash: UInt64 = 0
  /// The life of the zone, or the number of the account.
  var number: Int64
  var generation: Int64
  var position: Int64
  /// How many empty pages were answered since the position was reached.
  var emptyPages: Int64 = 0
  /// Makes tokens of one position differ.
  var variation: UInt64 = 0
  /// The branch of the store that gave the token.
  var branch: UInt64 = 0

  /// The token as a client gets it; nil cannot be, since there are always bytes.
  func token(seed: UInt64) -> ChangeToken? {
    var writer = BinaryWriter(reserving: 40)
    writer.write(feed.rawValue)
    writer.write(zoneHash)
    writer.write(number)
    writer.write(generation)
    writer.write(position)
    writer.write(emptyPages)
    writer.write(variation)
    writer.write(branch)
    let payload = writer.bytes
    let check = Self.check(bytes: payload, seed: seed)
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: check >> UInt64(8 * $0)) }
    bytes += Self.shuffled(bytes: payload, key: check)
    return ChangeToken(Data(bytes))
  }

  /// Reads a token that this store gave; nil for any other bytes.
  init?(_ token: ChangeToken, seed: UInt64) {
    let bytes = [UInt8](token.bytes)
    guard bytes.count > 8, bytes.count < 100 else { return nil }
    var check: UInt64 = 0
    for index in 0..<8 { check |= UInt64(bytes[index]) << UInt64(8 * index) }
    let payload = Self.shuffled(bytes: Array(bytes[8...]), key: check)
    guard Self.check(bytes: payload, seed: seed) == check else { return nil }
    do throws(CodedError) {
      var reader = BinaryReader(payload)
      guard let feed = Feed(rawValue: try reader.readUInt64()) else { return nil }
      self.feed = feed
      zoneHash = try reader.readUInt64()
      number = try reader.readInt64()
      generation = try reader.readInt64()
      position = try reader.readInt64()
      emptyPages = try reader.readInt64()
      variation = try reader.readUInt64()
      // Tokens of version 1 have none.
      if !reader.isAtEnd { branch = try reader.readUInt64() }
    } catch { return nil }
  }

  /// The beginning of a feed.
  init(feed: Feed, zoneHash: UInt64 = 0, number: Int64, generation: Int64, branch: UInt64) {
    self.feed = feed
    self.zoneHash = zoneHash
    self.number = number
    self.generation = generation
    position = 0
    self.branch = branch
  }

  private static func check(bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.reduce(UTF8Bytes.mix(seed, UInt64(bytes.count))) { UTF8Bytes.mix($0, UInt64($1)) }
  }

  private static func shuffled(bytes: [UInt8], key: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: key)
    return bytes.map { $0 ^ UInt8(truncatingIfNeeded: generator.next()) }
  }
}
