/// What was learnt about the size of requests.
package struct SizingRegion: Sendable {
  /// The most items that the cloud took lately, if it is less than the limits say.
  package var learnt: Int?
  /// Requests of that size that went well since.
  package var successes = 0
  /// While the culprit of a refused request is searched for: how many items go together.
  package var isolation: Int?
  /// How many entries of the refused request are still to be sent.
  package var suspects = 0

  /// How many requests must go well before a larger one is tried.
  package static let patience = 16

  package init() {}
}

extension SizingRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("learnt", learnt.map(Int64.init))
      $0.field("successes", successes)
      $0.field("isolation", isolation.map(Int64.init))
      $0.field("suspects", suspects)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    learnt = try reader.optional("learnt") { (reader) throws(CodedError) in try reader.readAmount()
    }
    successes = try reader.amount("successes")
    isolation = try reader.optional("isolation") {
      (reader) throws(CodedError) in try reader.readAmount()
    }
    suspects = try reader.amount("suspects")
    try reader.endObject()
  }
}
