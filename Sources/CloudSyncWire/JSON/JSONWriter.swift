import CloudSyncCore

/// Writes JSON without white space, member by member.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  /// Whether a comma is due before the next member or element.
  private var isFirst = true

  package init(reserving count: Int = 256) { bytes.reserveCapacity(count) }

  @inline(__always)
  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  /// Writes an object whose members the body writes.
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    enclose(in: (UInt8(ascii: "{"), UInt8(ascii: "}")), body)
  }

  /// Writes an array whose elements the body writes, one a call.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>,
    _ body: (inout JSONWriter, Element) -> Void
  ) {
    enclose(in: (UInt8(ascii: "["), UInt8(ascii: "]"))) { writer in
      for element in elements {
        writer.separate()
        body(&writer, element)
      }
    }
  }

  private mutating func enclose(
    in brackets: (first: UInt8, last: UInt8),
    _ body: (inout JSONWriter) -> Void
  ) {
    bytes.append(brackets.first)
    isFirst = true
    body(&self)
    bytes.append(brackets.last)
    isFirst = false
  }

  /// Writes the name of a member, which needs no escape; its value follows.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(name)
    append("\":")
  }

  /// Writes the name of a member that users have named; its value follows.
  package mutating func name(ofField name: String) {
    separate()
    string(name)
    bytes.append(UInt8(ascii: ":"))
  }

  package mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: StaticString, _ value: Int64) {
    self.name(name)
    raw(String(value))
  }

  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  package mutating func bool(_ value: Bool) { append(value ? "true" : "false") }

  package mutating func null() { append("null") }

  /// Writes a number by its text.
  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  package mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    UTF8Bytes.with(text) { text in
      var start = 0
      while true {
        let end = PlainText.end(in: text, from: start)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<end]))
        guard end < text.count else { return }
        escape(text[end])
        start = end + 1
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    default:
      append("\\u00")
      for digit in [byte >> 4, byte & 15] {
        bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
      }
    }
  }
}
