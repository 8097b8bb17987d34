public import CloudSyncCore

/// A time of a hybrid logical clock: milliseconds since 1970, and a counter within each of them.
///
/// The milliseconds are in the upper 48 bits, the counter is in the lower 16. A time that a device
/// gives is later than every time it has given or seen before, also if its own clock goes back.
/// It codes as its number.
public struct HybridTime: Sendable, Hashable, Codable, Comparable, CodedValue {
  /// The milliseconds times 65,536, plus the counter.
  public let rawValue: Int64

  /// Creates a time from its number.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The earliest time, which stands for one that is not known.
  public static let zero = HybridTime(rawValue: 0)

  private static let counterBits: Int64 = 16

  /// The whole milliseconds since 1970, rounded down.
  public var milliseconds: Int64 { rawValue >> Self.counterBits }

  /// The time to give an edit of the app's next: the present, or just after the last one where that is no later.
  ///
  /// It is an even number: odd ones are the engine's, so no edit that the engine makes by itself is ever of the
  /// same time as one of the app's.
  ///
  /// At the end of its range, in the year 6429, the clock stops.
  ///
  /// - Parameters:
  ///   - last: The latest time that was given or seen.
  ///   - milliseconds: The present in milliseconds since 1970.
  /// - Returns: A time that is later than the last one.
  public static func next(after last: HybridTime, now milliseconds: Int64) -> HybridTime {
    let limit = Int64.max >> counterBits
    let present = max(-limit, min(limit, milliseconds)) << counterBits
    return max(last.nextEven, HybridTime(rawValue: present))
  }

  /// The time just after this one that an edit of the engine's own has, for which the clock is not asked.
  package var successor: HybridTime { after(by: rawValue & 1 == 0 ? 1 : 2) }

  /// The time just before this one.
  var predecessor: HybridTime { HybridTime(rawValue: rawValue > .min ? rawValue - 1 : .min) }

  private var nextEven: HybridTime { after(by: rawValue & 1 == 0 ? 2 : 1) }

  private func after(by step: Int64) -> HybridTime {
    HybridTime(rawValue: rawValue > .max - step ? .max : rawValue + step)
  }

  /// Tells whether two times are the same.
  public static func == (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue == rhs.rawValue }

  /// Tells whether one time is before another.
  public static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue < rhs.rawValue }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  package func write<W: CodedWriter>(to writer: inout W) { writer.write(rawValue) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self.init(rawValue: try reader.readInt64())
  }
}

extension HybridTime: CustomStringConvertible {
  /// The milliseconds and the counter, with a point between them.
  public var description: String {
    "\(milliseconds).\(rawValue & (1 << Self.counterBits - 1))"
  }
}
