#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("A journal with a torn tail")
struct TornJournalTests {
  /// The frames of a journal, the first of them a state.
  private static func frames() throws -> [Data] {
    let bench = SessionHarness()
    let frames = Collector<Data>()
    bench.session.journal { frames.add($0) }
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1])])
    bench.world.run()
    bench.session.stop()
    bench.world.run()
    return frames.entries
  }

  /// What is found at the end of a file after a loss of power: blocks that were never written, or
  /// what they held before.
  private static let tails: [(name: String, bytes: Data)] = {
    var generator = SplitMix64(seed: 4)
    let random = (0..<64).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    return [
      ("nothing", Data()), ("a zero", Data([0])), ("zeros", Data(repeating: 0, count: 64)),
      ("random bytes", Data(random)), ("ones", Data(repeating: 1, count: 64)),
    ]
  }()

  @Test("Cut at any byte, with anything behind, it restores to its last whole frame")
  func cutAnywhere() throws {
    let frames = try Self.frames()
    var states: [SyncState] = []
    var whole = Data()
    for frame in frames {
      whole.append(frame)
      states.append(try SyncArchive(whole).state)
    }
    #expect(frames.count > 12)
    var start = frames[0].count
    for (index, frame) in frames.enumerated().dropFirst() {
      for length in SuiteSize.some((frame.count + 2) / 3, of: Array(0..<frame.count)) {
        for tail in Self.tails {
          let bytes = whole.prefix(start + length) + tail.bytes
          let label = "\(tail.name) after \(length) bytes of frame \(index)"
          let archive = try SyncArchive(bytes)
          // A tail may happen to be the rest of the frame.
          let isMended = bytes.prefix(start + frame.count) == whole.prefix(start + frame.count)
          guard !isMended else { continue }
          #expect(archive.eventCount == index - 1, "\(label)")
          #expect(archive.tornBytes == length + tail.bytes.count, "\(label)")
          if length % 16 == 0 { #expect(archive.state == states[index - 1], "\(label)") }
        }
      }
      start += frame.count
    }
  }

  @Test("A frame that ends in zeros is torn, also with more zeros behind")
  func endsInZeros() throws {
    let frames = try Self.frames()
    let last = try #require(frames.last)
    let before = frames.dropLast().reduce(into: Data()) { $0.append($1) }
    for kept in 0..<last.count - 1 {
      let half = last.prefix(kept) + Data(repeating: 0, count: last.count - kept)
      guard half != last else { continue }
      for more in [0, 1, 9, 4096] {
        let archive = try SyncArchive(before + half + Data(repeating: 0, count: more))
        #expect(archive.eventCount == frames.count - 2)
        #expect(archive.tornBytes == last.count + more)
      }
    }
  }

  @Test("Damage with a whole frame behind it is an error that names the place")
  func damageInTheMiddle() throws {
    let frames = try Self.frames()
    var whole = frames.reduce(into: Data()) { $0.append($1) }
    let start = frames[0].count + frames[1].count
    for place in 0..<frames[2].count {
      let original = whole[start + place]
      whole[start + place] = original ^ 0x55
      let error = #expect(throws: CodedError.self) { _ = try SyncArchive(whole) }
      #expect(error?.place == "byte \(start)")
      whole[start + place] = original
    }
    for missing in 1..<frames[2].count {
      let bytes = whole.prefix(start) + whole.dropFirst(start + missing)
      #expect(throws: CodedError.self, "\(missing) bytes are missing") {
        _ = try SyncArchive(bytes)
      }
    }
  }

  /// If every such place were checksummed, these would be eight thousand millions of bytes.
  @Test(
    "What looks like the beginnings of long frames costs no more than its reading",
    .timeLimit(.minutes(2))
  )
  func looksLikeFrames() throws {
    let bench = SessionHarness()
    let frames = Collector<Data>()
    bench.session.journal { frames.add($0) }
    // Headers of frames of 262,144 bytes, one after the other.
    let header: [UInt8] = [1, 0, 0, 4, 0]
    let pixels = Data((0..<900_000).map { $0 % 20 < 5 ? header[$0 % 20] : 7 })
    try bench.modify([SessionHarness.record("a", ["picture": .data(pixels)])])
    bench.world.run()
    let place = try #require(frames.entries.firstIndex { $0.count > pixels.count })
    let whole = frames.entries.prefix(place).reduce(into: Data()) { $0.append($1) }
    let torn = frames.entries[place].dropLast()

    let archive = try SyncArchive(whole + torn)
    #expect(archive.eventCount == place - 1)
    #expect(archive.tornBytes == torn.count)
  }

  @Test("Without a whole state there is nothing to restore")
  func tornState() throws {
    let frame = try Self.frames()[0]
    for length in stride(from: 0, to: frame.count, by: 7) {
      let bytes = frame.prefix(length) + Data(repeating: 0, count: 64)
      guard bytes.prefix(frame.count) != frame else { continue }
      #expect(throws: CodedError.self) { _ = try SyncArchive(bytes) }
    }
  }
}
