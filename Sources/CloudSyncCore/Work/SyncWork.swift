/// Work of one of the four kinds.
public enum SyncWork: Sendable {
  /// Creates the zone.
  case createZone(CreateZoneOperation)
  /// Creates the subscription.
  case createSubscription(CreateSubscriptionOperation)
  /// Saves and deletes records.
  case modify(ModifyOperation)
  /// Fetches changes.
  indirect case fetch(FetchOperation)

  /// The kind of work.
  public var mode: OperationMode {
    switch self {
    case .createZone: .createZone
    case .createSubscription: .createSubscription
    case .modify: .modify
    case .fetch: .fetch
    }
  }

  /// The name of the operation, if it is one of the app's.
  var operationID: OperationID? {
    switch self {
    case .modify(let operation): operation.id
    case .fetch(let operation): operation.id
    case .createZone, .createSubscription: nil
    }
  }

  /// What a handler answers when work succeeded, in whole or in part.
  public enum Result: Sendable {
    /// Whether the zone now exists; false is a refusal.
    case createZone(Bool)
    /// Whether the subscription now exists.
    case createSubscription(Bool)
    /// What became of the records.
    case modify(ModifyOperation.Response)
    /// A page of changes.
    indirect case fetch(FetchOperation.Response)
  }
}

extension SyncWork: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      mode.write(to: &$0)
      $0.key("operation")
      switch self {
      case .createZone(let operation): operation.write(to: &$0)
      case .createSubscription(let operation): operation.write(to: &$0)
      case .modify(let operation): operation.write(to: &$0)
      case .fetch(let operation): operation.write(to: &$0)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let mode: OperationMode = try reader.field("kind")
    switch mode {
    case .createZone: self = .createZone(try reader.field("operation"))
    case .createSubscription: self = .createSubscription(try reader.field("operation"))
    case .modify: self = .modify(try reader.field("operation"))
    case .fetch: self = .fetch(try reader.field("operation"))
    }
    try reader.endObject()
  }
}

extension SyncWork.Result: CodedValue {
  /// The kind of work that is answered.
  public var mode: OperationMode {
    switch self {
    case .createZone: .createZone
    case .createSubscription: .createSubscription
    case .modify: .modify
    case .fetch: .fetch
    }
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      mode.write(to: &$0)
      switch self {
      case .createZone(let done), .createSubscription(let done): $0.field("done", done)
      case .modify(let response): $0.field("response", response)
      case .fetch(let response): $0.field("response", response)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let mode: OperationMode = try reader.field("kind")
    switch mode {
    case .createZone: self = .createZone(try reader.field("done"))
    case .createSubscription: self = .createSubscription(try reader.field("done"))
    case .modify: self = .modify(try reader.field("response"))
    case .fetch: self = .fetch(try reader.field("response"))
    }
    try reader.endObject()
  }
}
