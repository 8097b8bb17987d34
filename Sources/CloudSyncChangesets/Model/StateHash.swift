/// The hash of a state: a sum over all rows and cells, so that a change adds and takes away its own.
///
/// It finds damage and mistakes. It is no signature: whoever can write commits can also make sums.
package struct StateHash: Sendable, Hashable {
  package private(set) var high: UInt64
  package private(set) var low: UInt64

  package init(high: UInt64 = 0, low: UInt64 = 0) {
    self.high = high
    self.low = low
  }

  /// The hash of the empty database.
  package static let zero = StateHash()

  package static func + (lhs: Self, rhs: Self) -> Self {
    let (low, carry) = lhs.low.addingReportingOverflow(rhs.low)
    return StateHash(high: lhs.high &+ rhs.high &+ (carry ? 1 : 0), low: low)
  }

  package static func - (lhs: Self, rhs: Self) -> Self {
    let (low, borrow) = lhs.low.subtractingReportingOverflow(rhs.low)
    return StateHash(high: lhs.high &- rhs.high &- (borrow ? 1 : 0), low: low)
  }

  package static func += (lhs: inout Self, rhs: Self) { lhs = lhs + rhs }

  package static func -= (lhs: inout Self, rhs: Self) { lhs = lhs - rhs }
}

extension StateHash {
  /// The hash in 32 hexadecimal digits.
  package var text: String {
    [high, low]
      .map { word in
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      .joined()
  }
}
