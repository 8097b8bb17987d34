public import CloudSyncCore

extension SessionScript {
  /// A response of the handler.
  public struct Answer: Sendable, Hashable {
    /// What is answered.
    public enum Content: Sendable, Hashable {
      /// This.
      case result(Result<SyncWork.Result, SyncError>)
      /// That all is done: records are saved, a fetch ends with an empty page.
      case done
      /// Nothing, ever.
      case lost
    }

    /// The kind of the request that is answered.
    public var mode: OperationMode
    /// What is answered.
    public var content: Content
    /// How long after the request.
    public var delay: Duration

    /// Creates a response.
    public init(mode: OperationMode, content: Content, delay: Duration = .zero) {
      self.mode = mode
      self.content = content
      self.delay = delay
    }
  }

  /// A response of the account provider.
  public struct AccountAnswer: Sendable, Hashable {
    /// The status; nil if no response comes.
    public var status: AccountStatus?
    /// The account.
    public var identity: AccountIdentity?
    /// How long after the question.
    public var delay: Duration

    /// Creates a response.
    public init(
      status: AccountStatus?,
      identity: AccountIdentity? = nil,
      delay: Duration = .zero
    ) {
      self.status = status
      self.identity = identity
      self.delay = delay
    }
  }
}

extension SessionScript.Answer {
  /// A response to the creation of the zone.
  public static func createZone(_ result: Result<Bool, SyncError>) -> Self {
    Self(mode: .createZone, content: .result(result.map(SyncWork.Result.createZone)))
  }

  /// A response to the creation of the subscription.
  public static func createSubscription(_ result: Result<Bool, SyncError>) -> Self {
    Self(
      mode: .createSubscription,
      content: .result(result.map(SyncWork.Result.createSubscription))
    )
  }

  /// A response to a modification.
  public static func modify(_ result: Result<ModifyOperation.Response, SyncError>) -> Self {
    Self(mode: .modify, content: .result(result.map(SyncWork.Result.modify)))
  }

  /// A response to a fetch, or to a lookup of records.
  public static func fetch(_ result: Result<FetchOperation.Response, SyncError>) -> Self {
    Self(mode: .fetch, content: .result(result.map(SyncWork.Result.fetch)))
  }

  /// A response that says that all was done.
  public static func done(_ mode: OperationMode) -> Self { Self(mode: mode, content: .done) }

  /// No response.
  public static func lost(_ mode: OperationMode) -> Self { Self(mode: mode, content: .lost) }
}
