/// The name of one call of the handler.
///
/// A response carries the attempt that it belongs to; a response to any but the current one is
/// ignored.
public struct Attempt: Sendable {
  /// The session's epoch when the request was made.
  public let epoch: UInt64
  /// Counts the requests of a state from 1, over all epochs.
  public let number: UInt64

  /// Creates a name.
  public init(epoch: UInt64, number: UInt64) {
    self.epoch = epoch
    self.number = number
  }
}

extension Attempt: EpochNumbered {}

/// A key by which a cloud recognizes a request that it has carried out already.
///
/// A request whose response was lost is sent again with the same token.
public struct WriteToken: Sendable {
  /// The nonce of the epoch in which the request was first made.
  public let nonce: UInt64
  /// The number of the attempt that first carried the request.
  public let number: UInt64

  /// Creates a token.
  public init(nonce: UInt64, number: UInt64) {
    self.nonce = nonce
    self.number = number
  }
}

extension WriteToken: CodedStruct, CustomStringConvertible {
  /// Both numbers in hexadecimal.
  public var description: String {
    "\(String(nonce, radix: 16))-\(String(number, radix: 16))"
  }

  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    nonce = try coder.field("nonce") { $0.nonce }
    number = try coder.field("number") { $0.number }
  }
}

/// What a handler is told about a call besides the operation.
public struct RequestContext: Sendable, Hashable {
  /// The name of this call.
  public let attempt: Attempt
  /// The key for recognizing a repeat.
  public let writeToken: WriteToken
  /// When the session stops waiting and counts the response as lost.
  public let deadline: Timestamp
  /// How far the cloud's history had come when it answered this device last: see ``HistoryKeepingHandler``.
  ///
  /// There may be several, if several sessions share a store. A cloud whose history lacks one of them was put
  /// back from a backup: it fails the request with ``SyncError/Code/zoneNotFound`` and
  /// ``SyncError/isEncryptedDataReset``.
  public var historyTokens: [ChangeToken]

  /// Creates a context: handlers' own tests need one.
  public init(
    attempt: Attempt,
    writeToken: WriteToken,
    deadline: Timestamp,
    historyTokens: [ChangeToken] = []
  ) {
    self.attempt = attempt
    self.writeToken = writeToken
    self.deadline = deadline
    self.historyTokens = historyTokens
  }
}
