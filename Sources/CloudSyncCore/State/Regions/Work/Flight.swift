/// The one request whose response is waited for.
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

extension Flight: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    attempt = try coder.field("attempt") { $0.attempt }
    mode = try coder.field("mode") { $0.mode }
    isLookup = try coder.field("isLookup") { $0.isLookup }
    count = try coder.amount("count") { $0.count }
    deadline = try coder.field("deadline") { $0.deadline }
    startedBy = try coder.field("startedBy") { $0.startedBy }
  }
}
