/// The one gate before every request, and how much the waits have grown.
package struct GateRegion: Sendable {
  /// Until when nothing is sent because the session itself waits.
  package var own: Deadline?
  /// Until when nothing is sent because the server asked for it: only `retryNow()` passes this.
  package var servers: Deadline?
  /// What the gate was closed for last.
  package var cause = Wait.Cause.transient
  /// How often in a row each cause has made the session wait, by the cause's raw value.
  package var strikes = [Int](repeating: 0, count: Wait.Cause.allCases.count)

  /// When the gate opens, if it is closed.
  package func opening(at now: Timestamp) -> Timestamp? {
    if own == nil, servers == nil { return nil }
    let end = max(own?.end(at: now) ?? now, servers?.end(at: now) ?? now)
    return end > now ? end : nil
  }

  /// Whether any wait has grown.
  package var hasStrikes: Bool { strikes.contains { $0 != 0 } }
}

extension GateRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("own", own)
      $0.field("servers", servers)
      $0.field("cause", cause)
      $0.key("strikes")
      $0.beginArray(count: strikes.count)
      for count in strikes { $0.write(count) }
      $0.endArray()
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    own = try reader.field("own")
    servers = try reader.field("servers")
    cause = try reader.field("cause")
    try reader.key("strikes")
    strikes = try reader.array { (reader) throws(CodedError) in
      Int(clamping: max(0, try reader.readInt64()))
    }
    guard strikes.count == Wait.Cause.allCases.count else {
      throw reader.failure("there are \(strikes.count) counts of waits")
    }
    try reader.endObject()
  }
}
