import CloudSyncCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Data in a page: JSON in a script element that is never run.
package enum ReportBlock {
  /// Puts JSON into the page.
  ///
  /// Where `<`, `>`, `&` and the line separators of Unicode stand in JSON they stand within a text,
  /// so all of them can be escaped as JSON escapes them: no text can end the element.
  package static func script(
    kind: StaticString,
    number: Int? = nil,
    json: [UInt8]
  ) -> Data {
    var data = Data()
    data.reserveCapacity(json.count + json.count / 16 + 80)
    let mark = number.map { " data-number=\"\($0)\"" } ?? ""
    data.append(
      contentsOf: "<script type=\"application/json\" data-block=\"\(kind)\"\(mark)>".utf8
    )
    appendEscaped(json: json, to: &data)
    data.append(contentsOf: "</script>\n".utf8)
    return data
  }

  private static func appendEscaped(json: [UInt8], to data: inout Data) {
    var plain = 0
    var next = 0
    while next < json.count {
      let index = next
      next += 1
      let escape: StaticString
      var length = 1
      switch json[index] {
      case UInt8(ascii: "<"): escape = "\\u003c"
      case UInt8(ascii: ">"): escape = "\\u003e"
      case UInt8(ascii: "&"): escape = "\\u0026"
      case 0xe2
      where index + 2 < json.count && json[index + 1] == 0x80
        && (json[index + 2] == 0xa8 || json[index + 2] == 0xa9):
        escape = json[index + 2] == 0xa8 ? "\\u2028" : "\\u2029"
        length = 3
      default: continue
      }
      data.append(contentsOf: json[plain..<index])
      data.append(escape.utf8Start, count: escape.utf8CodeUnitCount)
      plain = index + length
    }
    data.append(contentsOf: json[plain...])
  }

  /// The names of all records.
  static func names(_ names: [String]) -> Data {
    var writer = LineWriter()
    writer.beginArray(count: names.count)
    for name in names { writer.write(name) }
    writer.endArray()
    return script(kind: "names", json: writer.bytes)
  }

  /// What is known of the log as a whole, and the tables.
  static func about(
    log: EventLog,
    title: String,
    tables: ReportTables,
    chunkSize: Int
  ) -> Data {
    let header = log.header
    var writer = LineWriter()
    writer.object { writer in
      writer.field("title", ReportText.cut(title))
      writer.field("zone", ReportText.cut("\(header.state.zoneID)"))
      writer.field("start", header.time.nanoseconds / 1_000)
      writer.field("count", log.count)
      writer.field("chunkSize", chunkSize)
      writer.field("redaction", header.redaction)
      writer.field("middleware", header.middleware.map(ReportText.cut))
      writer.field("notes", notes(on: log, tables: tables))
      writer.field("kinds", tables.kinds)
      writer.field("verbs", tables.verbs)
      writer.field("origins", EventRecord.Origin.codedNames.map { "\($0)" })
      writer.field("modes", OperationMode.codedNames.map { "\($0)" })
      writer.field("marks", EventMarks.names)
      writer.field("statuses", ReportTables.statuses)
      writer.field("sections", StateSummary.fields.map(\.section))
      writer.field("fields", StateSummary.fields.map(\.name))
      writer.key("markCounts")
      writer.beginArray(count: tables.markCounts.count)
      for count in tables.markCounts { writer.write(count) }
      writer.endArray()
    }
    return script(kind: "about", json: writer.bytes)
  }

  /// What a reader of the page has to know about the log.
  private static func notes(on log: EventLog, tables: ReportTables) -> [String] {
    var notes = log.warnings.prefix(8).map { ReportText.cut($0.description) }
    if log.warnings.count > 8 { notes.append("and \(log.warnings.count - 8) more warnings") }
    if let mismatch = log.mismatch {
      notes.append(
        "the states do not agree with the digest after event \(mismatch.sequence): "
          + "the log was recorded by another version, or is damaged"
      )
    }
    if let alteration = log.alteration {
      notes.append("lines up to event \(alteration.sequence) were changed after they were written")
    }
    if log.isContinued { notes.append("the log goes on in another file, which is not shown") }
    if let last = log.lastSequence, log.lastFoldedSequence < last {
      notes.append("states are known up to event \(log.lastFoldedSequence) only")
    }
    if tables.isCut { notes.append("there are too many records: their histories are incomplete") }
    return notes
  }
}
