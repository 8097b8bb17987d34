import CloudSyncCore
import CloudSyncEventLog
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("Recording to files")
struct FileTests {
  @Test("The file is the log that a ring has, whatever the buffer and the durability")
  func sameBytes() throws {
    let ring = RecordedHarness(.ring())
    try drive(ring)
    let expected = [UInt8](try #require(ring.recorder.data(redactor: .none)))
    for durability in [LogFile.Durability.system, .everyWrite, .everyEvent] {
      for bufferSize in [1, 1_000, 1_000_000] {
        let folder = try Scratch()
        let file = LogFile(
          path: folder.file("log.jsonl"),
          bufferSize: bufferSize,
          durability: durability
        )
        try drive(RecordedHarness(.file(file)))
        #expect(try folder.bytes("log.jsonl") == expected)
        #expect(try folder.names == ["log.jsonl"])
      }
    }
  }

  private func drive(_ recorded: RecordedHarness) throws {
    recorded.attach()
    recorded.bench.start()
    try recorded.save(0..<10)
    recorded.detach()
  }

  @Test("What is buffered reaches the file with a flush, with a full buffer, or at once")
  func buffering() throws {
    let folder = try Scratch()
    let lazy = RecordedHarness(.file(LogFile(path: folder.file("lazy.jsonl"))))
    let eager = RecordedHarness(
      .file(LogFile(path: folder.file("eager.jsonl"), durability: .everyEvent))
    )
    for recorded in [lazy, eager] {
      recorded.attach()
      recorded.bench.start()
    }
    let header = try LineForm.lines(folder.bytes("eager.jsonl"))[0] + [UInt8(ascii: "\n")]
    #expect(try folder.bytes("lazy.jsonl") == header)
    let log = try EventLog(path: folder.file("eager.jsonl"))
    #expect(log.lastSequence == eager.bench.state.eventCount && !log.hasEnded)
    try lazy.recorder.flush()
    #expect(try folder.bytes("lazy.jsonl") == folder.bytes("eager.jsonl"))
  }

  @Test("A full file is renamed, each is a log by itself, and no more are kept than are wanted")
  func rotation() throws {
    let folder = try Scratch()
    let file = LogFile(path: folder.file("a.b/log.jsonl"), byteLimit: 20_000, fileLimit: 3)
    try FileManager.default.createDirectory(
      atPath: folder.file("a.b"),
      withIntermediateDirectories: true
    )
    let recorded = RecordedHarness(.file(file))
    recorded.attach()
    recorded.bench.start()
    try recorded.save(0..<120)
    recorded.detach()

    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("a.b")).sorted()
    #expect(names == ["log.1.jsonl", "log.2.jsonl", "log.jsonl"])
    let paths = [file.path(ofOlder: 2), file.path(ofOlder: 1), file.path]
    let logs = try paths.map { try EventLog(path: $0) }
    for log in logs { #expect(try log.faults() == []) }
    #expect(logs[0].header.part > 1)
    for (older, newer) in zip(logs, logs.dropFirst()) {
      #expect(newer.header.part == older.header.part + 1)
      // The newest may have been begun with the last event.
      #expect(
        newer.firstSequence ?? newer.header.state.eventCount + 1
          == older.lastSequence.map { $0 + 1 }
      )
      #expect(try newer.header.state == older.state(at: older.lastSequence ?? 0))
    }
    let end = recorded.bench.state
    #expect(try logs[2].state(at: end.eventCount) == end)
  }

  @Test("A state that is larger than the limit does not fill a file with every event")
  func largeState() throws {
    let folder = try Scratch()
    let file = LogFile(path: folder.file("log.jsonl"), byteLimit: 1_000, fileLimit: 100)
    let recorded = RecordedHarness(.file(file))
    try recorded.bench.modify((0..<300).map { .note("r\($0)", 1) })
    recorded.bench.world.run()
    recorded.attach()
    for _ in 0..<60 {
      recorded.bench.session.retryNow()
      recorded.bench.world.run()
    }
    recorded.detach()

    #expect(try folder.names.count == 1)
    #expect(try EventLog(path: file.path).faults() == [])
  }

  @Test("A file that is there is kept beside the new one, unless only one is wanted")
  func existingFile() throws {
    let folder = try Scratch()
    try folder.write([7], "log")
    for _ in 0..<2 { try drive(RecordedHarness(.file(LogFile(path: folder.file("log"))))) }
    #expect(try folder.names == ["log", "log.1", "log.2"])
    #expect(try folder.bytes("log.2") == [7])
    #expect(try folder.bytes("log.1") == folder.bytes("log"))

    let alone = try Scratch()
    for _ in 0..<2 {
      try drive(RecordedHarness(.file(LogFile(path: alone.file("log"), fileLimit: 1))))
    }
    #expect(try alone.names == ["log"])
    #expect(try EventLog(path: alone.file("log")).faults() == [])
  }

  @Test("A file that cannot be written costs the recording, not the session")
  func unwritable() throws {
    let folder = try Scratch()
    let missing = RecordedHarness(.file(LogFile(path: folder.file("none/log.jsonl"))))
    try drive(missing)
    let error = try #require(throws: LogError.self) { try missing.recorder.flush() }
    #expect(error.code == .file && error.log == folder.file("none/log.jsonl"))
    #expect(missing.bench.completions.entries.count == 10)

    let directory = RecordedHarness(.file(LogFile(path: folder.path, fileLimit: 1)))
    try drive(directory)
    #expect(throws: LogError.self) { try directory.recorder.flush() }
    #expect(directory.bench.completions.entries.count == 10)
  }

  @Test("A crash leaves a file that a reader can tell from a whole one")
  func crash() throws {
    let folder = try Scratch()
    let recorded = RecordedHarness(.file(LogFile(path: folder.file("log.jsonl"), bufferSize: 1)))
    recorded.attach()
    recorded.bench.start()
    try recorded.save(0..<2)
    // What is in the file now is what a process leaves that ends here.
    let bytes = try folder.bytes("log.jsonl")
    let log = try EventLog(bytes: bytes)
    #expect(!log.hasEnded && log.warnings.map(\.kind) == [.noEnd])
    #expect(log.lastSequence == recorded.bench.state.eventCount)
    let torn = try EventLog(bytes: bytes.dropLast(3))
    #expect(torn.warnings.map(\.kind) == [.tornLine, .noEnd])
    #expect(try Replay.rerun(log).isFaithful)
  }

  @Test("The files hide values by default")
  func hidesByDefault() throws {
    let folder = try Scratch()
    let recorder = EventRecorder(.file(LogFile(path: folder.file("log.jsonl"))))
    let bench = SessionHarness()
    recorder.attach(to: bench.session)
    bench.start()
    try bench.modify([SessionHarness.record("r", ["title": "Secret"])])
    bench.world.run()
    recorder.detach(from: bench.session)
    bench.world.run()
    let text = String(decoding: try folder.bytes("log.jsonl"), as: UTF8.self)
    #expect(text.contains("title") && !text.contains("Secret"))
    #expect(recorder.data() == nil)
  }
}
