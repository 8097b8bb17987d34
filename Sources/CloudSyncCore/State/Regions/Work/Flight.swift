/// The one request whose answer is waited for.
package struct Flight: Sendable {
  package var attempt: Attempt
  package var mode: OperationMode
  /// Whether records are looked up after a conflict.
  package var isLookup = false
  /// How many entries of the batch it holds, from the front; or how many it looks up.
  package var count = 0
  package var deadline: Deadline
  /// The number of the event that made the request.
  package var startedBy: UInt64
}

extension Flight: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("attempt", attempt)
      $0.field("mode", mode)
      $0.field("isLookup", isLookup)
      $0.field("count", count)
      $0.field("deadline", deadline)
      $0.field("startedBy", startedBy)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    attempt = try reader.field("attempt")
    mode = try reader.field("mode")
    isLookup = try reader.field("isLookup")
    count = try reader.amount("count")
    deadline = try reader.field("deadline")
    startedBy = try reader.field("startedBy")
    try reader.endObject()
  }
}
