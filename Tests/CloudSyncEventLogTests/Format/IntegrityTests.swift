import CloudSyncCore
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncEventLog

/// Whatever is changed in a log after it was written is noticed.
@Suite("Integrity of logs")
struct IntegrityTests {
  private static let rules: [Redactor] = [.none, .digests(salt: 1), .drops(salt: 1)]

  private static func lines(_ redactor: Redactor = .none) throws -> [[UInt8]] {
    LineForm.lines(try LogHarness.eventfulRun(sink: .ring(), redactor: redactor).bytes)
  }

  private static func replacing(_ part: String, with other: String, in line: [UInt8]) -> [UInt8] {
    Array(String(decoding: line, as: UTF8.self).replacingOccurrences(of: part, with: other).utf8)
  }

  @Test("A log that nobody has changed is whole, redacted or not", arguments: rules.indices)
  func unchanged(rule: Int) throws {
    let log = try EventLog(bytes: LineForm.log(Self.lines(Self.rules[rule])))

    #expect(log.alteration == nil && log.mismatch == nil && log.hasEnded && !log.isContinued)
  }

  @Test(
    "Changed times of inputs, causes, origins and effects are noticed, redacted or not",
    arguments: rules.indices
  )
  func changed(rule: Int) throws {
    let lines = try Self.lines(Self.rules[rule])
    let changes = [
      ("input", "\"time\":17", "\"time\":16"), ("event", "\"cause\":", "\"cause\":1"),
      ("input", "\"origin\":\"call\"", "\"origin\":\"report\""),
      ("event", "\"origin\":\"handler\"", "\"origin\":\"timer\""),
      ("effect", "\"what\":[\"event\"", "\"what\":[\"state\""),
    ]
    for (kind, old, new) in changes {
      let places = lines.indices.filter { place in
        SmallLog.kind(lines[place]) == kind
          && String(decoding: lines[place], as: UTF8.self).contains(old)
      }
      let place = try #require(places.dropFirst(places.count / 2).first, "\(kind) \(old)")
      var changed = lines
      changed[place] = Self.replacing(old, with: new, in: lines[place])
      #expect(changed[place] != lines[place])
      let log = try EventLog(bytes: LineForm.log(changed), salvaging: true)
      #expect(log.alteration != nil, "\(kind) \(new)")
    }
  }

  @Test("Each byte of a small log is covered")
  func everyByte() throws {
    let bench = RecordedHarness(.ring())
    bench.attach()
    bench.bench.start()
    try bench.save(0..<2)
    bench.detach()
    let bytes = [UInt8](try #require(bench.recorder.data(redactor: .none)))
    let lines = LineForm.lines(bytes)
    let end = bytes.count - (lines.last?.count ?? 0) - 1
    let step = SuiteSize.count(31, long: 7)
    for place in stride(from: 0, to: end, by: step) where bytes[place] != UInt8(ascii: "\n") {
      var changed = bytes
      changed[place] ^= 1
      let log: EventLog
      do {
        log = try EventLog(bytes: changed)
      } catch {
        continue  // Refused: noticed as well.
      }
      #expect(log.alteration != nil, "byte \(place)")
    }
  }

  @Test("A removed line is noticed, and so is a removed end")
  func removed() throws {
    let lines = try Self.lines()
    for place in [1, lines.count / 3, lines.count - 2] {
      var changed = lines
      changed.remove(at: place)
      let log = try EventLog(bytes: LineForm.log(changed), salvaging: true)
      #expect(log.alteration != nil, "line \(place + 1)")
    }
    // The last event and all that belongs to it: what is left is what a crash leaves.
    let last = try #require(lines.lastIndex { SmallLog.kind($0) == "event" })
    let cut = try EventLog(bytes: LineForm.log(Array(lines[..<last])))
    #expect(!cut.hasEnded && cut.warnings.contains { $0.kind == .noEnd })
  }

  @Test("The digest of lines depends on their order, their length and every byte")
  func lineDigest() {
    func digest(_ lines: [String]) -> UInt64 {
      var digest = LineDigest()
      for line in lines {
        Array(line.utf8).withUnsafeBytes { digest.add(line: $0) }
      }
      return digest.value
    }
    let long = String(repeating: "0123456789", count: 5)
    let variants = [
      [], [""], ["", ""], ["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], [long], [long + "0"],
      ["1" + long.dropFirst()], [String(long.dropLast()) + "8"], [long, ""],
    ]
    #expect(Set(variants.map(digest)).count == variants.count)
  }
}
