#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A point in time, in whole nanoseconds since the beginning of 1970 (UTC).
///
/// Unlike a `Date` it is an integer: it survives every coded form, and two of them differ by an
/// exact amount. It reaches from the year 1677 to 2262; arithmetic stops at these ends instead of
/// overflowing.
public struct Timestamp: Hashable, Codable, Sendable, Comparable, CodedValue {
  /// Nanoseconds since the beginning of 1970, negative before it.
  public var nanoseconds: Int64

  /// The earliest point in time that can be expressed.
  public static let distantPast = Timestamp(nanoseconds: .min)
  /// The latest point in time that can be expressed.
  public static let distantFuture = Timestamp(nanoseconds: .max)

  /// Creates a timestamp from nanoseconds since the beginning of 1970.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Seconds from the beginning of 1970 to that of 2001, from which `Date` counts.
  private static let referenceSeconds: Int64 = 978_307_200
  private static let perSecond: Int64 = 1_000_000_000

  /// Creates the timestamp that is nearest to a date.
  ///
  /// A date out of reach becomes the earliest or the latest timestamp; one that is not a number
  /// becomes the beginning of 1970.
  public init(_ date: Date) {
    self.init(nanoseconds: Self.nanoseconds(of: date.timeIntervalSinceReferenceDate))
  }

  private static func nanoseconds(of interval: Double) -> Int64 {
    guard !interval.isNaN else { return 0 }
    let end: Int64 = interval < 0 ? .min : .max
    let seconds = interval.rounded(.down)
    guard let whole = Int64(exactly: seconds) else { return end }
    let fraction = Int64(((interval - seconds) * 1e9).rounded())
    let (since1970, isFar) = whole.addingReportingOverflow(referenceSeconds)
    let (product, isTooFar) = since1970.multipliedReportingOverflow(by: perSecond)
    guard !isFar, !isTooFar else { return end }
    return Timestamp(nanoseconds: product).advanced(byNanoseconds: fraction).nanoseconds
  }

  /// The date that is nearest to the timestamp.
  ///
  /// A `Date` of our time resolves about 100 nanoseconds, so the way back is not always exact.
  public var date: Date {
    let (seconds, fraction) = nanoseconds.quotientAndRemainder(dividingBy: Self.perSecond)
    return Date(
      timeIntervalSinceReferenceDate: Double(seconds - Self.referenceSeconds)
        + Double(fraction) / 1e9
    )
  }

  /// Returns the timestamp so many nanoseconds later, or the end of the range.
  public func advanced(byNanoseconds amount: Int64) -> Timestamp {
    let (sum, isOutOfReach) = nanoseconds.addingReportingOverflow(amount)
    return Timestamp(nanoseconds: isOutOfReach ? (amount < 0 ? .min : .max) : sum)
  }

  /// Returns the timestamp a duration later, or the end of the range.
  ///
  /// Parts of a nanosecond are cut off towards zero.
  public func adding(_ duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    let (whole, isOutOfReach) = seconds.multipliedReportingOverflow(by: Self.perSecond)
    if !isOutOfReach {
      let (sum, overflows) = whole.addingReportingOverflow(attoseconds / Self.perSecond)
      if !overflows { return advanced(byNanoseconds: sum) }
    }
    return beyondInt64(duration: duration)
  }

  /// Adds a duration whose nanoseconds alone overflow: twice half of it may still be in reach.
  private func beyondInt64(duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    let limit = Int64.max / Self.perSecond * 2 + 2
    guard abs(Double(seconds)) <= Double(limit) else {
      return seconds < 0 ? .distantPast : .distantFuture
    }
    let half = seconds / 2
    return advanced(byNanoseconds: Self.clampedProduct(seconds: half))
      .advanced(byNanoseconds: Self.clampedProduct(seconds: seconds - half))
      .advanced(byNanoseconds: attoseconds / Self.perSecond)
  }

  private static func clampedProduct(seconds: Int64) -> Int64 {
    let (product, isOutOfReach) = seconds.multipliedReportingOverflow(by: perSecond)
    return isOutOfReach ? (seconds < 0 ? .min : .max) : product
  }

  /// Returns the last multiple of some nanoseconds that is not after the timestamp; at the very beginning
  /// of the range, where there is none, the first.
  package func rounded(toMultipleOf unit: Int64) -> Timestamp {
    guard unit > 1 else { return self }
    let rest = nanoseconds % unit
    let nearest = self - rest
    let isReached = rest >= 0 || nearest.nanoseconds < .min + unit
    return isReached ? nearest : nearest - unit
  }

  /// Returns the nanoseconds from this timestamp to another, negative if that is earlier.
  ///
  /// The result stops at the ends of `Int64`.
  public func distance(to other: Timestamp) -> Int64 {
    let (result, isOutOfReach) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return isOutOfReach ? (other < self ? .min : .max) : result
  }

  /// Returns the timestamp so many nanoseconds later, or the end of the range.
  public static func + (lhs: Timestamp, nanoseconds: Int64) -> Timestamp {
    lhs.advanced(byNanoseconds: nanoseconds)
  }

  /// Returns the timestamp so many nanoseconds earlier, or the end of the range.
  public static func - (lhs: Timestamp, nanoseconds: Int64) -> Timestamp {
    let (result, isOutOfReach) = lhs.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return Timestamp(nanoseconds: isOutOfReach ? (nanoseconds < 0 ? .max : .min) : result)
  }

  /// Tells whether two timestamps are the same nanosecond.
  public static func == (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.nanoseconds == rhs.nanoseconds
  }

  /// Tells whether one timestamp is before another.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }

  /// Hashes the nanoseconds.
  public func hash(into hasher: inout Hasher) { hasher.combine(nanoseconds) }

  package func write<W: CodedWriter>(to writer: inout W) { writer.write(nanoseconds) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self.init(nanoseconds: try reader.readInt64())
  }
}
