/// What a session knows of its zone.
public enum ZoneState: Sendable {
  /// Nothing, and nobody has asked for it to be created.
  case unknown
  /// It is to be created, or is being created; why, if it was lost.
  case creating(ZoneLoss?)
  /// It exists.
  case ready
  /// It is lost, and the app has to decide.
  case lost(ZoneLoss)
  /// The cloud refused to create it.
  case refused(SyncError)
}

extension ZoneState {
  /// What kind of knowledge it is, without its details.
  enum Kind { case unknown, creating, recreating, ready, lost, refused }

  var kind: Kind {
    switch self {
    case .unknown: .unknown
    case .creating(nil): .creating
    case .creating: .recreating
    case .ready: .ready
    case .lost: .lost
    case .refused: .refused
    }
  }
}

/// What a session knows of the subscription that brings pushes.
public enum SubscriptionState: Sendable {
  /// Nothing, and nobody has asked for it to be created.
  case unknown
  /// It is to be created, or is being created.
  case creating
  /// It exists.
  case ready
  /// It could not be created; the session works without it.
  case givenUp(SyncError)
}

/// The zone and its subscription.
package struct ZoneRegion: Sendable {
  package var zoneID: ZoneID
  package var zone = ZoneState.unknown
  package var subscription = SubscriptionState.unknown
  /// How often the zone was created since anything else succeeded.
  package var creations = 0
  /// Whether edits and pages go before the subscription, since it was refused; nil if they do not.
  package var isSubscriptionPutOff: Bool?
  /// How many requests had been answered when the subscription was refused in passing; nil if it was not.
  package var subscriptionRefusedAt: UInt64?
  /// How often that was its own trouble; nil if never.
  package var subscriptionFailures: Int?

  package init(zoneID: ZoneID) { self.zoneID = zoneID }

  /// Whether the zone is lost, and the app has to decide.
  var isLost: Bool { if case .lost = zone { true } else { false } }

  /// Whether zone or subscription are to be created.
  @inline(__always)
  var isStarting: Bool {
    switch zone {
    case .creating: return true
    case .lost, .refused: return false
    case .unknown, .ready: break
    }
    if case .creating = subscription { return true }
    return false
  }

  /// Wishes for the zone; false if it is wished for already.
  mutating func wishForZone() -> Bool {
    switch zone {
    case .unknown, .refused: zone = .creating(nil)
    case .creating, .ready, .lost: return false
    }
    return true
  }

  /// Wishes for the subscription; false if it is wished for already.
  mutating func wishForSubscription() -> Bool {
    switch subscription {
    case .unknown, .givenUp: subscription = .creating
    case .creating, .ready: return false
    }
    forgetSubscriptionFailures()
    return true
  }

  /// Notes that the subscription was refused in passing.
  ///
  /// A network that is away is nobody's fault: only failures count after which another request was answered, and those of
  /// which the cloud does not say that it is away.
  ///
  /// - Returns: How often that was its own trouble.
  mutating func refuseSubscription(answered: UInt64, isCounted: Bool) -> Int {
    let isProven = subscriptionRefusedAt.map { answered > $0 } ?? false
    subscriptionRefusedAt = answered
    isSubscriptionPutOff = true
    if isCounted || isProven { subscriptionFailures = (subscriptionFailures ?? 0) + 1 }
    return subscriptionFailures ?? 0
  }

  mutating func forgetSubscriptionFailures() {
    isSubscriptionPutOff = nil
    subscriptionRefusedAt = nil
    subscriptionFailures = nil
  }

  /// Forgets what was refused: it may be wished for again.
  mutating func forgetRefusals() {
    creations = 0
    forgetSubscriptionFailures()
    if case .refused = zone { zone = .unknown }
    if case .givenUp = subscription { subscription = .unknown }
  }

  /// Wishes again for what was wished for: the account is another one.
  mutating func renewWishes() {
    zone = zone.isWished ? .creating(nil) : .unknown
    subscription = subscription.isWished ? .creating : .unknown
    creations = 0
    forgetSubscriptionFailures()
  }
}

extension ZoneState {
  /// Whether somebody has asked for the zone.
  fileprivate var isWished: Bool { if case .unknown = self { false } else { true } }
}

extension SubscriptionState {
  /// Whether somebody has asked for the subscription.
  var isWished: Bool { if case .unknown = self { false } else { true } }
}

extension ZoneState: CodedValue {
  private static let names: [StaticString] = ["unknown", "creating", "ready", "lost", "refused"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .unknown: $0.tag(0, of: Self.names)
      case .creating(let loss):
        $0.tag(1, of: Self.names)
        $0.field("loss", loss)
      case .ready: $0.tag(2, of: Self.names)
      case .lost(let loss):
        $0.tag(3, of: Self.names)
        $0.field("loss", loss)
      case .refused(let error):
        $0.tag(4, of: Self.names)
        $0.field("error", error)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .unknown
    case 1: self = .creating(try reader.field("loss"))
    case 2: self = .ready
    case 3: self = .lost(try reader.field("loss"))
    default: self = .refused(try reader.field("error"))
    }
    try reader.endObject()
  }
}

extension SubscriptionState: CodedValue {
  private static let names: [StaticString] = ["unknown", "creating", "ready", "givenUp"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .unknown: $0.tag(0, of: Self.names)
      case .creating: $0.tag(1, of: Self.names)
      case .ready: $0.tag(2, of: Self.names)
      case .givenUp(let error):
        $0.tag(3, of: Self.names)
        $0.field("error", error)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .unknown
    case 1: self = .creating
    case 2: self = .ready
    default: self = .givenUp(try reader.field("error"))
    }
    try reader.endObject()
  }
}

extension ZoneRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    zoneID = try coder.field("zoneID") { $0.zoneID }
    zone = try coder.field("zone") { $0.zone }
    subscription = try coder.field("subscription") { $0.subscription }
    creations = try coder.amount("creations") { $0.creations }
    isSubscriptionPutOff = try coder.field("isSubscriptionPutOff") { $0.isSubscriptionPutOff }
    subscriptionRefusedAt = try coder.field("subscriptionRefusedAt") { $0.subscriptionRefusedAt }
    subscriptionFailures = try coder.optionalAmount("subscriptionFailures") {
      $0.subscriptionFailures
    }
  }
}
