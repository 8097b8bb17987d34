import CloudSyncCore
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncEventLog

@Suite("Bad logs")
struct BadInputTests {
  @Test("A log cut at any byte is refused with a line, or is used up to a torn last line")
  func truncated() throws {
    let bytes = try SmallLog.make()
    let headerEnd = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
    let whole = try EventLog(bytes: bytes)

    for cut in 0...bytes.count {
      let part = Array(bytes[..<cut])
      guard cut >= headerEnd else {
        // A damaged header is damaged at every byte: some of them will do.
        guard cut % 7 == 0 else { continue }
        let error = try SmallLog.failure(part)
        #expect(error.code == (cut == 0 ? .empty : .malformedLine))
        #expect(error.line == (cut == 0 ? 0 : 1))
        continue
      }
      // Of the places in a line every ninth will do, except in the long run.
      guard cut % SuiteSize.count(17, long: 1) == 0 || cut > bytes.count - 20 else { continue }
      let log = try EventLog(bytes: part)
      let last = part.split(separator: UInt8(ascii: "\n")).last.map(Array.init) ?? []
      let isTorn = (try? LineForm.read(LogLine.self, last)) == nil
      #expect(log.warnings.contains { $0.kind == .tornLine } == isTorn, "cut at \(cut)")
      #expect(log.hasEnded == (cut >= bytes.count - 1))
      #expect(log.warnings.contains { $0.kind == .noEnd } != log.hasEnded)
      #expect(log.mismatch == nil)
      #expect(log.count <= whole.count)
      if let last = log.lastSequence { #expect(try log.state(at: last).eventCount == last) }
    }
  }

  private struct Damage: CustomTestStringConvertible {
    var name: String
    var code: LogError.Code
    var line: Int
    var change: @Sendable (inout [[UInt8]]) -> Void
    var testDescription: String { name }
  }

  private static func replacing(_ old: String, _ new: String, _ line: inout [UInt8]) {
    let text = String(decoding: line, as: UTF8.self)
    line = Array(text.replacingOccurrences(of: old, with: new).utf8)
  }

  /// The place of the second line of a kind.
  private static func second(_ kind: String, _ lines: [[UInt8]]) -> Int {
    lines.indices.filter { SmallLog.kind(lines[$0]) == kind }[1]
  }

  private static let damages: [Damage] = [
    Damage(name: "no header", code: .missingHeader, line: 1) { $0.removeFirst() },
    Damage(name: "second header", code: .order, line: 3) { $0.insert($0[0], at: 2) },
    Damage(name: "version of the format", code: .version, line: 1) {
      replacing("\"formatVersion\":3", "\"formatVersion\":2", &$0[0])
    },
    Damage(name: "version of the reduction", code: .version, line: 1) {
      replacing("\"reducerVersion\":2", "\"reducerVersion\":1", &$0[0])
    },
    Damage(name: "version of a line", code: .version, line: 2) {
      replacing("{\"version\":3", "{\"version\":2", &$0[1])
    },
    Damage(name: "no UTF-8", code: .malformedLine, line: 2) {
      $0[1] = Array(repeating: 0xff, count: 9)
    },
    Damage(name: "empty line", code: .malformedLine, line: 2) { $0.insert([], at: 1) },
    Damage(name: "lines doubled", code: .order, line: 4) {
      $0.insert(contentsOf: $0[1...2], at: 3)
    },
    Damage(name: "a header state that contradicts itself", code: .malformedLine, line: 1) {
      replacing("\"queuedItems\":0", "\"queuedItems\":5", &$0[0])
    },
    Damage(name: "a count out of reach", code: .malformedLine, line: 1) {
      replacing("\"eventCount\":0", "\"eventCount\":18446744073709551615", &$0[0])
    },
    Damage(name: "a middleware twice", code: .malformedLine, line: 1) {
      replacing("\"WorkMiddleware\"", "\"RetryMiddleware\"", &$0[0])
    },
    Damage(name: "an end in the middle", code: .order, line: 3) { lines in
      // The end digest of a log without events, and then events.
      let last = lines[lines.count - 1]
      var end = last
      replacing("\"sequence\":\(SmallLog.sequence(last) ?? 0)", "\"sequence\":0", &end)
      lines.insert(end, at: 1)
    },
  ]

  @Test("Whatever is wrong, there is one error with line and reason", arguments: damages)
  private func damaged(damage: Damage) throws {
    var lines = LineForm.lines(try SmallLog.make())
    damage.change(&lines)
    let error = try SmallLog.failure(LineForm.log(lines))

    #expect(error.code == damage.code, "\(error)")
    #expect(error.line == damage.line, "\(error)")
    #expect(error.description.hasPrefix("log:\(damage.line): ") && !error.reason.isEmpty)
  }

  @Test("Lines that are missing or out of order are found, whichever they are")
  func missingLines() throws {
    let lines = LineForm.lines(try SmallLog.make())
    for place in lines.indices.dropFirst().dropLast(2) where SmallLog.kind(lines[place]) == "event"
    {
      var damaged = lines
      damaged.remove(at: place)
      #expect(try SmallLog.failure(LineForm.log(damaged)).code == .order)
      damaged = lines
      let later = lines.indices.dropFirst(place + 1).first { SmallLog.kind(lines[$0]) == "event" }
      if let later {
        damaged.swapAt(place, later)
        #expect(try SmallLog.failure(LineForm.log(damaged)).code == .order)
      }
    }
  }

  @Test("A flipped bit is an error, or the fold's digests find it, or the log means the same")
  func flippedBits() throws {
    let bytes = try SmallLog.make()
    var random = SplitMix64(seed: 11)
    var found = 0
    for _ in 0..<300 {
      var damaged = bytes
      damaged[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
      do throws(LogError) {
        _ = try EventLog(bytes: damaged)
      } catch {
        found += 1
        #expect(error.line > 0 && !error.reason.isEmpty)
      }
    }
    #expect(found > 100)
  }

  @Test("A digest that the fold does not agree with is told")
  func mismatch() throws {
    var lines = LineForm.lines(try SmallLog.make())
    let end = lines.count - 1
    let state = try EventLog(bytes: LineForm.log(lines))
      .state(at: SmallLog.sequence(lines[end]) ?? 0)
    let digest = "\"digest\":\(LogDigest.of(state))"
    Self.replacing(digest, "\"digest\":1", &lines[end])
    let log = try EventLog(bytes: LineForm.log(lines))

    #expect(log.mismatch?.digest == 1)
    #expect(log.mismatch?.sequence == log.lastSequence)
  }

  @Test("A line without an end is refused before memory is")
  func endlessLine() throws {
    var scanner = LineScanner(LogSource(Array(repeating: 0x20, count: 3_000_000), name: "log"))
    let line = try #require(try scanner.nextLine())
    #expect(line.range.count == 3_000_000 && !line.isWhole)
    #expect(LineScanner.maximumLength <= 1 << 29)
  }

  @Test("A hostile count in a short line costs nothing")
  func hostileCounts() throws {
    var lines = LineForm.lines(try SmallLog.make())
    let arrays = String(repeating: "[],", count: 200_000)
    lines[1] = Array("{\"version\":2,\"kind\":\"event\",\"payload\":[\(arrays)[]]}".utf8)
    #expect(try SmallLog.failure(LineForm.log(lines)).line == 2)
    lines[1] = Array(repeating: UInt8(ascii: "["), count: 1_000_000)
    #expect(try SmallLog.failure(LineForm.log(lines)).line == 2)

    let lists = String(repeating: #"{"kind":"list","value":["#, count: 100_000)
    let error = #expect(throws: CodedError.self) { try LineForm.read(FieldValue.self, lists) }
    #expect(error?.reason.contains("too deep") == true)
  }

  @Test("What is no file is refused")
  func noFile() throws {
    let folder = try Scratch()
    let directory = try #require(throws: LogError.self) { try EventLog(path: folder.path) }
    #expect(directory.code == .file && directory.reason.contains("directory"))
    let missing = try #require(throws: LogError.self) { try EventLog(path: folder.file("none")) }
    #expect(missing.code == .file && missing.log == folder.file("none"))
    for device in ["/dev/null", "/dev/zero"] {
      let error = try #require(throws: LogError.self) { try EventLog(path: device) }
      #expect(error.code == .file)
    }
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    let pipe = try #require(throws: LogError.self) { try EventLog(path: folder.file("pipe")) }
    #expect(pipe.code == .file && pipe.reason.contains("not a regular file"))
  }

  @Test("A file with the line ends of another system is read")
  func carriageReturns() throws {
    let lines = LineForm.lines(try SmallLog.make())
    let log = try EventLog(bytes: LineForm.log(lines.map { $0 + [0x0d] }))
    #expect(
      try SmallLog.sequences(log) == SmallLog.sequences(try EventLog(bytes: LineForm.log(lines)))
    )
  }
}
