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

extension SizingRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    learnt = try coder.optionalAmount("learnt") { $0.learnt }
    successes = try coder.amount("successes") { $0.successes }
    isolation = try coder.optionalAmount("isolation") { $0.isolation }
    suspects = try coder.amount("suspects") { $0.suspects }
  }
}
