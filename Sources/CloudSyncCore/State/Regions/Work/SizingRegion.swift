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

  /// Whether anything was learnt.
  @inline(__always)
  var isEmpty: Bool { learnt == nil && isolation == nil }

  /// How much the next request may take.
  func limits(within limits: RequestLimits) -> RequestLimits {
    var limits = limits
    if let learnt { limits.items = min(limits.items, max(1, learnt)) }
    if let isolation { limits.items = min(limits.items, max(1, isolation)) }
    return limits
  }

  /// Notes that a request of several items was too large.
  mutating func wasTooLarge(count: Int) {
    learnt = count / 2
    successes = 0
  }

  /// Notes that an item spoils a request of several.
  mutating func isSpoilt(count: Int) {
    isolation = count / 2
    suspects = count
  }

  /// Notes that the culprit is found: the others need not travel in small parts because of it.
  mutating func foundCulprit(isTooLarge: Bool) {
    if isTooLarge { learnt = nil } else { isolation = nil }
  }

  /// Notes that a request went well.
  ///
  /// - Parameters:
  ///   - count: How many items it had.
  ///   - most: How many it could have at most.
  mutating func succeeded(count: Int, most: Int) {
    if let isolation {
      suspects -= count
      if suspects <= 0 || isolation < 1 { self.isolation = nil }
    }
    guard let learnt, count >= learnt else { return }
    successes += 1
    guard successes >= Self.patience else { return }
    successes = 0
    self.learnt = learnt * 2 >= most ? nil : learnt * 2
  }
}

extension SizingRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    learnt = try coder.optionalAmount("learnt") { $0.learnt }
    successes = try coder.amount("successes") { $0.successes }
    isolation = try coder.optionalAmount("isolation") { $0.isolation }
    suspects = try coder.amount("suspects") { $0.suspects }
  }
}
