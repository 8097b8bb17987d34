/// Finds where the values of a line of JSON are, so that a test can change one of them.
struct JSONSpans {
  /// What a value is.
  enum Kind { case object, array, text, number, word }

  /// Where a value is.
  struct Span {
    var kind: Kind
    var range: Range<Int>
    /// Where the value with its key begins, if it is a field.
    var fieldStart: Int?

    var whole: Range<Int> { (fieldStart ?? range.lowerBound)..<range.upperBound }
  }

  private struct Frame {
    var kind: Kind
    var start: Int
    var fieldStart: Int?
  }

  private(set) var spans: [Span] = []
  private var frames: [Frame] = []
  private var fieldStart: Int?

  /// The values of a sound line, inner ones before outer ones.
  static func of(_ line: [UInt8]) -> [Span] {
    var finder = JSONSpans()
    finder.find(in: line)
    return finder.spans
  }

  private mutating func find(in line: [UInt8]) {
    var place = 0
    while place < line.count {
      switch line[place] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let kind: Kind = line[place] == UInt8(ascii: "{") ? .object : .array
        frames.append(Frame(kind: kind, start: place, fieldStart: fieldStart))
        fieldStart = nil
        place += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        place += 1
        guard let frame = frames.popLast() else { return }
        fieldStart = frame.fieldStart
        add(frame.kind, frame.start..<place)
      case UInt8(ascii: "\""): place = takeText(from: place, in: line)
      case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: " "): place += 1
      default: place = takeScalar(from: place, in: line)
      }
    }
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
  }

  private mutating func add(_ kind: Kind, _ range: Range<Int>) {
    spans.append(Span(kind: kind, range: range, fieldStart: fieldStart))
    fieldStart = nil
  }

  private mutating func takeText(from start: Int, in line: [UInt8]) -> Int {
    var place = start + 1
    while place < line.count, line[place] != UInt8(ascii: "\"") {
      place += line[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    place = min(place + 1, line.count)
    if place < line.count, line[place] == UInt8(ascii: ":") {
      fieldStart = start
    } else {
      add(.text, start..<place)
    }
    return place
  }

  private mutating func takeScalar(from start: Int, in line: [UInt8]) -> Int {
    var place = start
    while place < line.count, !Self.isEnd(line[place]) { place += 1 }
    let isWord = line[start] >= UInt8(ascii: "a")
    add(isWord ? .word : .number, start..<place)
    return max(place, start + 1)
  }
}
