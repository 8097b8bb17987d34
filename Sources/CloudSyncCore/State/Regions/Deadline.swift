/// A time to wait for, kept with its length.
///
/// Wall clocks jump. Whenever the clock is read, a deadline is never further away than its length,
/// so a clock set back costs at most one more wait.
package struct Deadline: Sendable {
  /// When the wait ends.
  package var until: Timestamp
  /// How long the wait was when it began, in nanoseconds.
  package var length: Int64

  package init(from now: Timestamp, nanoseconds: Int64) {
    until = now.advanced(byNanoseconds: nanoseconds)
    length = nanoseconds
  }

  /// When the wait began.
  package var start: Timestamp { until.advanced(byNanoseconds: -length) }

  package func isPassed(at now: Timestamp) -> Bool { until <= now }

  /// Moves the end, if a clock that was set back has pushed it away.
  package mutating func clamp(at now: Timestamp) { until = end(at: now) }

  /// The end of the wait as seen at a time.
  package func end(at now: Timestamp) -> Timestamp {
    min(until, now.advanced(byNanoseconds: length))
  }
}

extension Deadline: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    until = try coder.field("until") { $0.until }
    length = max(0, try coder.field("length") { $0.length })
  }
}
