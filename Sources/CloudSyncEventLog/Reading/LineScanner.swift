import CloudSyncCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Finds the lines of a log, one after the other, with memory for one piece and one line.
struct LineScanner {
  /// Where a line is.
  struct Line {
    /// Counted from 1.
    var number: Int
    /// Where it begins in the log.
    var offset: Int
    /// Its bytes in the scanner's buffer, without the line feed.
    var range: Range<Int>
    /// Whether a line feed ends it.
    var isWhole: Bool
  }

  /// A line that is longer holds nothing that this package writes.
  static let maximumLength = 1 << 29
  private static let pieceSize = 1 << 18

  let source: LogSource
  private(set) var buffer: [UInt8] = []
  /// Where the buffer begins in the log.
  private var bufferOffset: Int
  /// Where the next line begins in the buffer.
  private var next = 0
  private var lineNumber: Int
  private let end: Int

  /// Scans from an offset at which a line begins.
  init(_ source: LogSource, from offset: Int = 0, to end: Int = .max, line: Int = 1) {
    self.source = source
    bufferOffset = offset
    lineNumber = line - 1
    self.end = end
  }

  /// Where the next line begins in the log.
  var offset: Int { bufferOffset + next }

  /// The next line; nil at the end.
  mutating func nextLine() throws(LogError) -> Line? {
    var searched = next
    while true {
      if let feed = lineFeed(from: searched) {
        defer { next = feed + 1 }
        return makeLine(range: next..<feed, isWhole: true)
      }
      guard buffer.count - next <= Self.maximumLength else {
        throw LogError(
          .lineTooLong,
          log: source.name,
          line: lineNumber + 1,
          "the line is longer than \(Self.maximumLength) bytes; this is no event log"
        )
      }
      searched = buffer.count - next
      guard try fill() else { break }
    }
    guard next < buffer.count else { return nil }
    defer { next = buffer.count }
    return makeLine(range: next..<buffer.count, isWhole: false)
  }

  /// Where the next line feed is in the buffer.
  private func lineFeed(from start: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + start, 0x0a, bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  private mutating func makeLine(range: Range<Int>, isWhole: Bool) -> Line {
    lineNumber += 1
    return Line(
      number: lineNumber,
      offset: bufferOffset + range.lowerBound,
      range: range,
      isWhole: isWhole
    )
  }

  /// Reads another piece after what is left of the one before.
  private mutating func fill() throws(LogError) -> Bool {
    let start = bufferOffset + buffer.count
    // A long line is read in pieces that grow with it.
    let wanted = min(max(Self.pieceSize, buffer.count - next), end - start)
    let piece = wanted > 0 ? try source.read(at: start, count: wanted) : []
    buffer.removeSubrange(..<next)
    bufferOffset += next
    next = 0
    guard !piece.isEmpty else { return false }
    buffer.append(contentsOf: piece)
    return true
  }

  /// Whether a line begins as an object of JSON does.
  func isJSON(_ line: Line) -> Bool { buffer[line.range].first == UInt8(ascii: "{") }

  /// Decodes a line that has just been returned.
  func decode(_ line: Line) throws(LogError) -> LogLine {
    let result = buffer.withUnsafeBufferPointer { buffer in
      Self.decode(UnsafeBufferPointer(rebasing: buffer[line.range]))
    }
    switch result {
    case .success(let decoded): return decoded
    case .failure(let error):
      let isVersion = LogHeader.isVersionFailure(reason: error.reason)
      throw LogError(
        isVersion ? .version : .malformedLine,
        log: source.name,
        line: line.number,
        error.description
      )
    }
  }

  private static func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<LogLine, CodedError> {
    do throws(CodedError) {
      var reader = LineReader(bytes)
      let line = try LogLine(from: &reader)
      guard reader.isAtEnd() else { throw reader.failure("there is more after the line's end") }
      return .success(line)
    } catch {
      return .failure(error)
    }
  }
}
