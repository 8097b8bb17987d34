/// Why work failed, as a value that can be compared, stored and replayed.
///
/// A handler maps whatever its transport throws to this one error, once; nothing here is ever parsed
/// from text. What the session does about an error is in ``ErrorTable``.
public struct SyncError: Error, Sendable {
  /// What kind of failure it is.
  public var code: Code
  /// The failure in words, for people; never parsed.
  public var message: String
  /// How long the cloud asked to wait, in nanoseconds.
  package var retryAfterNanoseconds: Int64?
  /// The errors of single records, in the order of the request; only in a partial failure.
  public var itemErrors: [ItemFailure]
  /// The record as it was sent, in a conflict.
  public var clientRecord: Record?
  /// The record as the cloud has it, in a conflict; whole.
  public var serverRecord: Record?
  /// The record that the client's edit started from, in a conflict.
  public var ancestorRecord: Record?
  /// Whether the zone is missing because the user reset the encrypted data.
  ///
  /// CloudKit's `CKErrorUserDidResetEncryptedDataKey`.
  public var isEncryptedDataReset: Bool
  /// How far the cloud's history had come, where a partial failure tells of its records; not coded.
  package var historyToken: ChangeToken?

  /// Creates an error.
  public init(
    _ code: Code,
    _ message: String = "",
    retryAfter: Duration? = nil,
    itemErrors: [ItemFailure] = [],
    clientRecord: Record? = nil,
    serverRecord: Record? = nil,
    ancestorRecord: Record? = nil,
    isEncryptedDataReset: Bool = false
  ) {
    self.code = code
    self.message = message
    self.retryAfterNanoseconds = retryAfter.map(\.clampedNanoseconds)
    self.itemErrors = itemErrors
    self.clientRecord = clientRecord
    self.serverRecord = serverRecord
    self.ancestorRecord = ancestorRecord
    self.isEncryptedDataReset = isEncryptedDataReset
  }

  /// How long the cloud asked to wait before the next request, if it did.
  public var retryAfter: Duration? {
    get { retryAfterNanoseconds.map(Duration.nanoseconds) }
    set { retryAfterNanoseconds = newValue.map(\.clampedNanoseconds) }
  }
}

extension SyncError {
  /// The app has given an operation up before it was sent.
  static var cancelled: SyncError { SyncError(.cancelled, "the operation was cancelled") }

  static var droppedByMiddleware: SyncError {
    SyncError(.cancelled, "a middleware has dropped the operation")
  }

  /// A change was given up whose response was lost.
  static var outcomeUnknown: SyncError {
    SyncError(.outcomeUnknown, "the response was lost, and the change was given up: it may be done")
  }

  /// A change was given up that another operation's edit of its record had been merged with.
  static var goesOnMerged: SyncError {
    SyncError(
      .outcomeUnknown,
      "the operation was cancelled, and its change goes on with another edit of the record"
    )
  }
}

/// The failure of one record of a request.
public struct ItemFailure: Sendable {
  /// The record that failed.
  public var recordID: RecordID
  /// Why it failed.
  public var error: SyncError

  /// Creates a failure.
  public init(_ recordID: RecordID, _ error: SyncError) {
    self.recordID = recordID
    self.error = error
  }
}

extension SyncError: CustomStringConvertible {
  /// The code, and what else is known, in one line.
  public var description: String {
    var text = "\(code)"
    if !message.isEmpty { text += ": \(message)" }
    if let retryAfter { text += " (retry after \(retryAfter))" }
    if !itemErrors.isEmpty {
      text +=
        " (\(itemErrors.count) items, first \(itemErrors[0].recordID): \(itemErrors[0].error))"
    }
    return text
  }
}

extension SyncError: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("code", code.rawValue)
      $0.field("message", $0.disclosed(message, as: .message))
      $0.field("retryAfter", retryAfterNanoseconds)
      $0.field("itemErrors", itemErrors)
      $0.field("clientRecord", clientRecord)
      $0.field("serverRecord", serverRecord)
      $0.field("ancestorRecord", ancestorRecord)
      $0.field("isEncryptedDataReset", isEncryptedDataReset)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    code = Code(rawValue: try reader.field("code"))
    message = try reader.field("message")
    retryAfterNanoseconds = try reader.field("retryAfter")
    itemErrors = try reader.field("itemErrors")
    clientRecord = try reader.field("clientRecord")
    serverRecord = try reader.field("serverRecord")
    ancestorRecord = try reader.field("ancestorRecord")
    isEncryptedDataReset = try reader.field("isEncryptedDataReset")
    try reader.endObject()
  }
}

extension ItemFailure: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("recordID", recordID)
      $0.field("error", error)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    recordID = try reader.field("recordID")
    error = try reader.field("error")
    try reader.endObject()
  }
}

extension Duration {
  /// The duration in whole nanoseconds, never negative, at most what 64 bits hold.
  package var clampedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflow2 ? .max : sum
  }
}
