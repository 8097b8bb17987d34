import CloudSyncCore

/// A small generator of numbers that look random: the same seed gives the same numbers, everywhere
/// and for ever.
///
/// It is SplitMix64: one 64-bit counter, mixed. The numbers of a seed are a promise: they will not
/// change in any later version, so a seed that showed a mistake years ago shows it again. It is not
/// fit for secrets.
///
/// ```swift
/// var random = SeededRandom(seed: 42)
/// let die = random.below(6) + 1
/// var weather = random.fork()  // goes its own way from here
/// ```
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var generator: SplitMix64

  /// Creates a generator.
  ///
  /// - Parameter seed: Any number; neighbours give unrelated sequences.
  public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// The next 64 bits.
  public mutating func next() -> UInt64 { generator.next() }

  /// A number from 0 up to, but not including, a bound.
  ///
  /// - Parameter bound: At least 1. For bounds far below 2^64 all numbers are as good as equally
  ///   likely.
  /// - Returns: The number.
  public mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "There is no number below \(bound): give a bound of at least 1.")
    return Int(next() % UInt64(bound))
  }

  /// A number of a range.
  public mutating func within(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.upperBound - range.lowerBound + 1)
  }

  /// True in so many of so many cases.
  ///
  /// - Parameters:
  ///   - hits: How many cases are true; none if zero or less.
  ///   - cases: Of how many, at least 1.
  /// - Returns: Whether this one is.
  public mutating func chance(_ hits: Int, in cases: Int) -> Bool { below(cases) < hits }

  /// One of some elements.
  ///
  /// - Parameter elements: At least one element.
  /// - Returns: One of them.
  public mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }

  /// Puts elements into another order.
  public mutating func shuffle<Element>(_ elements: inout [Element]) {
    guard elements.count > 1 else { return }
    for index in stride(from: elements.count - 1, to: 0, by: -1) {
      elements.swapAt(index, below(index + 1))
    }
  }

  /// A generator of its own, whose numbers do not depend on how many are drawn from this one later.
  public mutating func fork() -> SeededRandom { SeededRandom(seed: next()) }

  /// A generator of its own for a purpose, without drawing a number from this one.
  ///
  /// - Parameter purpose: Any number; another one gives another generator.
  /// - Returns: The generator.
  public func fork(_ purpose: UInt64) -> SeededRandom {
    SeededRandom(seed: SplitMix64.first(of: generator.state ^ (purpose &* 0xd6e8_feb8_6659_fd93)))
  }
}
