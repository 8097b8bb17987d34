import CloudSyncCore
import CloudSyncTestSupport

/// Damages logs: a seed and a log give one damaged log, always the same.
struct LogMutator {
  typealias Lines = [[UInt8]]

  private let corpus: [Lines]
  private var random: SplitMix64

  init(_ corpus: [Lines], seed: UInt64) {
    self.corpus = corpus
    random = SplitMix64(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1)
  }

  /// One damaged log.
  mutating func next() -> [UInt8] {
    var lines = corpus[random.below(corpus.count)]
    for _ in 0..<max(1, random.below(6) - 2) where !lines.isEmpty {
      if random.chance(7, in: 10) { changeValue(&lines) } else { changeLines(&lines) }
    }
    var bytes: [UInt8] = []
    for line in lines {
      bytes.append(contentsOf: line)
      bytes.append(UInt8(ascii: "\n"))
    }
    if random.chance(1, in: 10) { _ = bytes.popLast() }
    if random.chance(1, in: 8) { changeBytes(&bytes) }
    return bytes
  }

  // MARK: Bytes and lines

  private mutating func changeBytes(_ bytes: inout [UInt8]) {
    guard !bytes.isEmpty else { return }
    let place = random.below(bytes.count)
    switch random.below(4) {
    case 0: bytes[place] ^= 1 << UInt8(random.below(8))
    case 1: bytes.removeSubrange(place...)
    case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(40)))
    default:
      let other = corpus[random.below(corpus.count)].flatMap(\.self)
      let start = random.below(other.count)
      let end = min(other.count, start + 1 + random.below(200))
      bytes.insert(contentsOf: other[start..<end], at: place)
    }
  }

  private mutating func changeLines(_ lines: inout Lines) {
    let place = random.below(lines.count)
    let other = random.below(lines.count)
    switch random.below(6) {
    case 0: lines.remove(at: place)
    case 1: lines.insert(lines[place], at: other)
    case 2: lines.swapAt(place, other)
    case 3: lines.removeSubrange(min(place, other)..<max(place, other))
    case 4:
      let foreign = corpus[random.below(corpus.count)]
      lines.insert(foreign[random.below(foreign.count)], at: place)
    default: changeBytes(&lines[place])
    }
  }

  // MARK: Values

  /// Changes a value of a line, in two of five cases of the header with its state.
  private mutating func changeValue(_ lines: inout Lines) {
    let place = random.chance(2, in: 5) ? 0 : random.below(lines.count)
    let spans = JSONSpans.of(lines[place])
    guard !spans.isEmpty else { return }
    switch random.below(4) {
    case 0: changeNumber(&lines[place], spans)
    case 1: changeText(&lines[place], spans)
    case 2: changeStructure(&lines[place], spans)
    default: swapValues(&lines[place], spans)
    }
  }

  private static let numbers = [
    "0", "1", "2", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    "9223372036854775808", "4294967296", "2147483647", "-2147483649", "4611686018427387904",
    "4611686018427387903", "68719476736", "-68719476736", "1e308", "-0.0", "1.5", "1e999", "00",
    "99999999999999999999999999", "1000000", "65536",
  ]

  private mutating func changeNumber(_ line: inout [UInt8], _ spans: [JSONSpans.Span]) {
    let numbers = spans.filter { $0.kind == .number }
    guard !numbers.isEmpty else { return }
    let span = numbers[random.below(numbers.count)]
    var text = Self.numbers[random.below(Self.numbers.count)]
    if random.chance(1, in: 3), let old = Int64(String(decoding: line[span.range], as: UTF8.self)) {
      text = "\(old &+ Int64(random.below(5)) &- 2)"
    }
    line.replaceSubrange(span.range, with: text.utf8)
  }

  private static let texts = [
    #""""#, #""\u0000""#, #""\ud800""#, #""\ud83d\ude00""#, #""é""#, #""e\u0301""#,
    #""</script><script>alert(1)</script>""#, #""bits:7ff8000000000001""#, #""bits:zz""#,
    #""//8=""#, #""=""#, #""r3""#, #""r1""#, #""__proto__""#, #""\q""#, #""\u12""#, #""\""#,
    "\"" + String(repeating: "x", count: 3_000) + "\"",
  ]

  private mutating func changeText(_ line: inout [UInt8], _ spans: [JSONSpans.Span]) {
    let texts = spans.filter { $0.kind == .text || $0.kind == .word }
    guard !texts.isEmpty else { return }
    let span = texts[random.below(texts.count)]
    if span.kind == .word {
      line.replaceSubrange(span.range, with: ["true", "false", "null"][random.below(3)].utf8)
    } else if random.chance(1, in: 2) {
      // Another text of the line: often a name that means something there.
      let other = texts[random.below(texts.count)]
      line.replaceSubrange(span.range, with: Array(line[other.range]))
    } else {
      line.replaceSubrange(span.range, with: Self.texts[random.below(Self.texts.count)].utf8)
    }
  }

  private mutating func changeStructure(_ line: inout [UInt8], _ spans: [JSONSpans.Span]) {
    let span = spans[random.below(spans.count)]
    switch random.below(6) {
    case 0: remove(span.whole, from: &line)
    case 1:
      let copy = Array(line[span.whole])
      line.insert(contentsOf: copy + [UInt8(ascii: ",")], at: span.whole.lowerBound)
    case 2: line.replaceSubrange(span.range, with: ["null", "[]", "{}", "0"][random.below(4)].utf8)
    case 3:
      let depth = 1 + random.below(80)
      let opening = [UInt8](repeating: UInt8(ascii: "["), count: depth)
      let closing = [UInt8](repeating: UInt8(ascii: "]"), count: depth)
      line.replaceSubrange(span.range, with: opening + line[span.range] + closing)
    case 4:
      let arrays = spans.filter { $0.kind == .array }
      guard !arrays.isEmpty else { return }
      line.replaceSubrange(arrays[random.below(arrays.count)].range, with: "[]".utf8)
    default:
      let copy = Array(line[span.whole]) + [UInt8(ascii: ",")]
      let many = repeatElement(copy, count: 1 + random.below(300)).joined()
      line.insert(contentsOf: many, at: span.whole.lowerBound)
    }
  }

  private func remove(_ range: Range<Int>, from line: inout [UInt8]) {
    var range = range
    if range.upperBound < line.count, line[range.upperBound] == UInt8(ascii: ",") {
      range = range.lowerBound..<range.upperBound + 1
    } else if range.lowerBound > 0, line[range.lowerBound - 1] == UInt8(ascii: ",") {
      range = range.lowerBound - 1..<range.upperBound
    }
    line.removeSubrange(range)
  }

  /// Exchanges two values of one kind: what is read then is sound, and means something else.
  private mutating func swapValues(_ line: inout [UInt8], _ spans: [JSONSpans.Span]) {
    let first = spans[random.below(spans.count)]
    let alike = spans.filter { $0.kind == first.kind && !$0.range.overlaps(first.range) }
    guard !alike.isEmpty else { return }
    let second = alike[random.below(alike.count)]
    let (low, high) =
      first.range.lowerBound < second.range.lowerBound ? (first, second) : (second, first)
    let (lowBytes, highBytes) = (Array(line[low.range]), Array(line[high.range]))
    line.replaceSubrange(high.range, with: lowBytes)
    line.replaceSubrange(low.range, with: highBytes)
  }
}
