/// A generator of numbers that look random: a counter, mixed (Steele, Lea and Flood, 2014).
///
/// The same seed gives the same numbers everywhere and for ever. It is not fit for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private static let step: UInt64 = 0x9e37_79b9_7f4a_7c15
  package private(set) var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    defer { state &+= Self.step }
    return Self.mix(state &+ Self.step)
  }

  /// A number from 0 up to, but not including, a bound above 0.
  package mutating func below(_ bound: UInt64) -> UInt64 {
    next().multipliedFullWidth(by: bound).high
  }

  /// Shuffles the bits of a number, differently for every number.
  package static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// The first number of a seed.
  package static func first(of seed: UInt64) -> UInt64 { mix(seed &+ step) }
}
