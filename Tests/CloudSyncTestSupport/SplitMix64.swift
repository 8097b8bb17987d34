package import CloudSyncCore

/// Draws of the tests; what seeds stand for depends on them.
extension SplitMix64 {
  /// A number from 0 up to, but not including, a bound.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True in so many of so many cases.
  package mutating func chance(_ hits: Int, in cases: Int) -> Bool { below(cases) < hits }
}
