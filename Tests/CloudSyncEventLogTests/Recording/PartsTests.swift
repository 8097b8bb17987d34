import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Foundation
import Testing

/// Recordings that are too long for one file.
@Suite("Parts of a log")
struct PartsTests {
  /// The files of a recording, the oldest first, and the state at its end.
  private static func record(
    in folder: Scratch,
    fileLimit: Int = 60
  ) throws -> (paths: [String], end: SyncState) {
    let file = LogFile(path: folder.file("log.jsonl"), byteLimit: 20_000, fileLimit: fileLimit)
    let recorded = RecordedHarness(.file(file))
    recorded.attach()
    recorded.bench.start()
    try recorded.save(0..<120)
    recorded.detach()
    let older = try folder.names.count - 1
    let paths = stride(from: older, to: 0, by: -1).map { file.path(ofOlder: $0) } + [file.path]
    return (paths, recorded.bench.state)
  }

  @Test("Each part names the one before it, and says whether another one follows")
  func names() throws {
    let folder = try Scratch()
    let logs = try Self.record(in: folder).paths.map { try EventLog(path: $0) }

    #expect(logs.count > 2)
    #expect(logs.map(\.header.part) == Array(1...logs.count))
    #expect(logs[0].header.previous == nil)
    for log in logs.dropFirst() { #expect(log.header.previous?.name == "log.1.jsonl") }
    #expect(logs.map(\.isContinued) == logs.indices.map { $0 < logs.count - 1 })
  }

  @Test("Several parts are one log, in whatever order they are given")
  func together() throws {
    let folder = try Scratch()
    let (paths, end) = try Self.record(in: folder)
    let log = try EventLog(paths: paths.reversed())

    #expect(try log.faults() == [])
    #expect(log.partCount == paths.count && !log.isContinued && log.alteration == nil)
    #expect(log.lastSequence == end.eventCount)
    #expect(try log.state(at: end.eventCount) == end)
    var next: UInt64 = 1
    try log.forEachStep { step in
      #expect(step.sequence == next)
      next += 1
      return true
    }
    #expect(next == end.eventCount + 1)
    for sequence in stride(from: UInt64(1), through: end.eventCount, by: 17) {
      #expect(try log.step(sequence).sequence == sequence)
    }
    #expect(!(try LogReport.html(of: log)).isEmpty)
    #expect(try LogStatistics(of: log).eventCount == log.count)
  }

  @Test("Some parts in a row are a log too, and say that more follows")
  func some() throws {
    let folder = try Scratch()
    let paths = try Self.record(in: folder).paths
    let log = try EventLog(paths: Array(paths[1...2]))

    #expect(log.isContinued && log.header.part == 2)
    #expect(try Replay.rerun(log).divergences.map(\.description) == [])
  }

  @Test("Parts that are missing, given twice, changed or of another recording are refused")
  func refused() throws {
    let folder = try Scratch()
    let paths = try Self.record(in: folder).paths
    let other = try Scratch()
    let others = try Self.record(in: other, fileLimit: 50).paths
    func code(_ paths: [String]) -> LogError.Code? {
      do throws(LogError) {
        _ = try EventLog(paths: paths)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code([paths[0], paths[2]]) == .parts)
    #expect(code([paths[0], paths[0]]) == .parts)
    #expect(code([paths[0], others[1]]) == nil, "the same run gives the same bytes")

    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: paths[0])))
    let text = String(decoding: bytes, as: UTF8.self)
    bytes = Array(
      text.replacingOccurrences(of: "\"origin\":\"timer\"", with: "\"origin\":\"report\"").utf8
    )
    if bytes == Array(text.utf8) {
      bytes = Array(
        text.replacingOccurrences(of: "\"origin\":\"call\"", with: "\"origin\":\"timer\"").utf8
      )
    }
    try Data(bytes).write(to: URL(fileURLWithPath: paths[0]))
    #expect(code([paths[0], paths[1]]) == .parts)
  }

  @Test("A log that begins anew in the same file is no part of the one before it")
  func anew() throws {
    let folder = try Scratch()
    let file = LogFile(path: folder.file("log.jsonl"))
    let recorded = RecordedHarness(.file(file))
    recorded.attach()
    recorded.bench.start()
    recorded.detach()
    recorded.attach()
    try recorded.save(0..<3)
    recorded.detach()

    for path in [file.path, file.path(ofOlder: 1)] {
      let log = try EventLog(path: path)
      #expect(log.header.part == 1 && log.header.previous == nil && !log.isContinued)
    }
  }
}
