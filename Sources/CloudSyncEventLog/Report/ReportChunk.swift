import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the page knows of one event.
struct ReportRow {
  /// How much is queued, and what is on its way.
  struct Depths {
    var status: Int
    var operations: Int
    var records: Int
    var fetches: Int
    var parked: Int
    var flightMode: OperationMode?
    var attempt: UInt64

    init(_ source: borrowing StateSummary.Source) {
      let modify = source.modify
      let begun = modify.open.lastNumber
      let isFirstBegun = begun != nil && modify.queue.first?.id.number == begun
      operations = modify.queue.count + modify.open.count - (isFirstBegun ? 1 : 0)
      records = modify.queuedItems + modify.batch.count
      let fetch = source.fetch
      fetches = fetch.waiting.count + (fetch.run?.operations.count ?? 0)
      parked = source.parked.entries.count
      flightMode = source.flight?.mode
      attempt = source.flight?.attempt.number ?? 0
      status = ReportTables.status(next: source.next)
    }
  }

  let sequence: UInt64
  let time: Timestamp
  let cause: UInt64?
  let origin: EventRecord.Origin
  var kind = 0
  /// The kind of event that came in, where a middleware made another one of it.
  var input: Int?
  var marks: EventMarks = []
  var mode: OperationMode?
  var text = ""
  var effects = ""
  /// The indexes of records and of what happened to them, alternating.
  var touches: [Int] = []
  /// Nil where the state is not known.
  var depths: Depths?
  /// The fields of the summary that have another value now.
  var changes: [(field: Int, value: StateSummary.Value)] = []

  init(_ step: LogStep) {
    sequence = step.sequence
    time = step.record.time
    cause = step.record.cause
    origin = step.record.origin
  }
}

/// Some hundred events in columns, as the page's script reads them.
struct ReportChunk {
  private let base: StateSummary
  private let start: Timestamp
  private var rows: [ReportRow] = []

  init(before summary: StateSummary, since start: Timestamp) {
    base = summary
    self.start = start
  }

  var isEmpty: Bool { rows.isEmpty }
  var lastTime: Timestamp { rows.last?.time ?? start }

  mutating func add(_ row: ReportRow) { rows.append(row) }

  /// Three blocks: numbers, which are read at once, and texts and records, read when needed.
  func blocks() -> Data {
    var data = ReportBlock.script(kind: "numbers", json: numbers())
    data.append(ReportBlock.script(kind: "texts", json: texts()))
    data.append(ReportBlock.script(kind: "records", json: records()))
    return data
  }

  private func numbers() -> [UInt8] {
    var writer = LineWriter()
    writer.object { writer in
      var last = start
      column("time", to: &writer) { row in
        defer { last = row.time }
        // Microseconds since the event before: whole numbers that a script can hold.
        return microseconds(time: row.time) - microseconds(time: last)
      }
      var expected = rows.first?.sequence ?? 0
      writer.field("first", expected)
      column("gap", to: &writer) { row in
        defer { expected = row.sequence &+ 1 }
        return Int64(clamping: row.sequence &- expected)
      }
      column("cause", to: &writer) { row in
        guard let cause = row.cause, cause < row.sequence else { return 0 }
        return Int64(clamping: row.sequence - cause)
      }
      column("kind", to: &writer) { Int64($0.kind) }
      column("input", to: &writer) { Int64($0.input.map { $0 + 1 } ?? 0) }
      column("origin", to: &writer) { Int64($0.origin.rawValue) }
      column("marks", to: &writer) { Int64($0.marks.rawValue) }
      column("mode", to: &writer) { mode(mode: $0.mode) }
      column("status", to: &writer) { Int64($0.depths?.status ?? ReportTables.unknownStatus) }
      column("flight", to: &writer) { mode(mode: $0.depths?.flightMode) }
      column("attempt", to: &writer) { Int64(clamping: $0.depths?.attempt ?? 0) }
      column("operations", to: &writer) { Int64($0.depths?.operations ?? 0) }
      column("queued", to: &writer) { Int64($0.depths?.records ?? 0) }
      column("fetches", to: &writer) { Int64($0.depths?.fetches ?? 0) }
      column("parked", to: &writer) { Int64($0.depths?.parked ?? 0) }
    }
    return writer.bytes
  }

  private func mode(mode: OperationMode?) -> Int64 { mode.map { Int64($0.rawValue) + 1 } ?? 0 }

  private func microseconds(time: Timestamp) -> Int64 { time.nanoseconds / 1_000 }

  /// Writes a column; nothing for one that is zero all over.
  private func column(
    _ name: StaticString,
    to writer: inout LineWriter,
    value: (ReportRow) -> Int64
  ) {
    let values = rows.map(value)
    guard values.contains(where: { $0 != 0 }) else { return }
    writer.key(name)
    writer.beginArray(count: values.count)
    for value in values { writer.write(value) }
    writer.endArray()
  }

  private func texts() -> [UInt8] {
    var writer = LineWriter()
    writer.object { writer in
      writer.field("text", rows.map(\.text))
      writer.field("effects", rows.map(\.effects))
      writer.key("base")
      writer.beginArray(count: base.values.count)
      for value in base.values { write(value, to: &writer) }
      writer.endArray()
      writer.key("changes")
      writer.beginArray(count: rows.count)
      for row in rows {
        writer.beginArray(count: 2 * row.changes.count)
        for change in row.changes {
          writer.write(change.field)
          write(change.value, to: &writer)
        }
        writer.endArray()
      }
      writer.endArray()
    }
    return writer.bytes
  }

  private func write(_ value: StateSummary.Value, to writer: inout LineWriter) {
    switch value {
    case .none: writer.writeNil()
    case .count(let count): writer.write(count)
    case .text(let text): writer.write(text)
    case .time(let time):
      // Text and counts have no element of their own, a time has.
      writer.beginArray(count: 1)
      writer.write(microseconds(time: time))
      writer.endArray()
    }
  }

  private func records() -> [UInt8] {
    var writer = LineWriter()
    writer.beginArray(count: rows.count)
    for row in rows {
      writer.beginArray(count: row.touches.count)
      for index in row.touches { writer.write(index) }
      writer.endArray()
    }
    writer.endArray()
    return writer.bytes
  }
}
