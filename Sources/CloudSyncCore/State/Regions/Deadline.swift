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

extension Deadline: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("until", until)
      $0.field("length", length)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    until = try reader.field("until")
    length = max(0, try reader.field("length") as Int64)
    try reader.endObject()
  }
}
