package import CloudSyncCore

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
  /// Where the account's history stood when the token was given.
  var history = HistoryPlace()

  /// The beginning of a feed.
  init(
    feed: Feed,
    zoneHash: UInt64 = 0,
    number: Int64,
    generation: Int64,
    branch: UInt64,
    history: HistoryPlace
  ) {
    self.feed = feed
    self.zoneHash = zoneHash
    self.number = number
    self.generation = generation
    position = 0
    self.branch = branch
    self.history = history
  }

  /// The token as a client gets it; nil cannot be, since there are always bytes.
  func token(_ seal: TokenSeal) -> ChangeToken? {
    var writer = BinaryWriter(reserving: 80)
    writer.write(feed.rawValue)
    writer.write(zoneHash)
    writer.write(number)
    writer.write(generation)
    writer.write(position)
    writer.write(emptyPages)
    writer.write(variation)
    writer.write(branch)
    writer.write(history.account)
    writer.write(history.index)
    writer.write(history.number)
    writer.write(history.position)
    return ChangeToken(Data(seal.closing(writer.bytes)))
  }

  /// Reads a token that this store gave; nil for any other bytes.
  init?(_ token: ChangeToken, sealedBy seal: TokenSeal) {
    guard let payload = seal.opening([UInt8](token.bytes)) else { return nil }
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
      // Tokens of version 1 have none, and those of version 2 no place.
      if !reader.isAtEnd { branch = try reader.readUInt64() }
      if !reader.isAtEnd {
        history.account = try reader.readUInt64()
        history.index = try reader.readInt64()
        history.number = try reader.readUInt64()
        history.position = try reader.readInt64()
      }
    } catch { return nil }
  }
}

extension SyncError {
  /// Why a token is refused that nobody was given for a feed of the account.
  package static let foreignToken =
    SyncError(.invalidArguments, "the change token does not belong to the feed")
}
