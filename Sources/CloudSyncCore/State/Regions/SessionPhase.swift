/// Whether a session is at work.
public enum SessionPhase: Sendable {
  /// It was made, reset or restored, and waits for `start()`.
  case created
  /// It works.
  case running
  /// It was stopped, or an error stopped it.
  case stopped(HaltReason)
}

/// By what, over which work, and when a session was stopped.
public struct HaltReason: Sendable {
  /// The error; its code is ``SyncError/Code/stopped`` after `stop()`.
  public var error: SyncError
  /// The kind of work that failed, if any.
  public var mode: OperationMode?
  /// The attempt that failed, if any.
  public var attempt: Attempt?
  /// The operations that the failed request was made of, at most the first ten.
  public var operations: [OperationID]
  /// When it stopped.
  public var time: Timestamp
}

extension HaltReason: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    error = try coder.field("error") { $0.error }
    mode = try coder.field("mode") { $0.mode }
    attempt = try coder.field("attempt") { $0.attempt }
    operations = try coder.field("operations") { $0.operations }
    time = try coder.field("time") { $0.time }
  }
}

extension SessionPhase: CodedValue {
  private static let names: [StaticString] = ["created", "running", "stopped"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .created: $0.tag(0, of: Self.names)
      case .running: $0.tag(1, of: Self.names)
      case .stopped(let reason):
        $0.tag(2, of: Self.names)
        $0.field("reason", reason)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .created
    case 1: self = .running
    default: self = .stopped(try reader.field("reason"))
    }
    try reader.endObject()
  }
}
