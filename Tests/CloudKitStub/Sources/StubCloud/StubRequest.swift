public import Foundation

/// What an operation asked for, as a test looks at it.
public struct StubRequest: Sendable {
  /// The kinds of operations.
  public enum Kind: String, Sendable, CaseIterable {
    case createZone, fetchZone, createSubscription, modify, fetch, lookUp
  }

  /// One record to save.
  public struct Save: Sendable, Hashable {
    /// The record's name.
    public var name: String
    /// The tag of the version that it was made from.
    public var changeTag: String?
    /// The keys that are set, sorted; those of encrypted values too.
    public var changedKeys: [String]

    /// Says what a record to save looks like.
    public init(name: String, changeTag: String?, changedKeys: [String]) {
      self.name = name
      self.changeTag = changeTag
      self.changedKeys = changedKeys
    }
  }

  /// What was asked for.
  public var kind: Kind
  /// The records to save, in order.
  public var saves: [Save] = []
  /// The records to delete, or to look up.
  public var names: [String] = []
  /// Whether a modification is all or nothing.
  public var isAtomic: Bool?
  /// What the request is to be recognized by.
  public var clientToken: Data?
  /// How many seconds it may go without data.
  public var requestTimeout: TimeInterval
  /// How many seconds it may take.
  public var resourceTimeout: TimeInterval
  /// The name of its group.
  public var groupName: String?
  /// How urgent it is.
  public var qualityOfService: QualityOfService
  /// The owner of the zone, as it was sent.
  public var owner: String?
  /// The ID of the subscription.
  public var subscriptionID: String?
}

/// What goes wrong with a request.
public enum StubFault: Sendable {
  /// The operation ends with an error, and nothing was carried out.
  case fail(NSError)
  /// Everything is carried out; so many items are told of, then the operation ends with an error.
  case failAfter(items: Int, NSError)
  /// The items of these names fail; the others are carried out.
  case items([String: NSError])
  /// The items of these names fail, and the operation ends with an error of its own.
  case itemsThenFail([String: NSError], NSError)
  /// There is no response until ``StubCloud/release()``.
  case hold
}
