import CloudSyncEventLog
import CloudSyncSession

/// The sections about the event log.
enum LogSections {
  static func recording() throws {
    let cost = try RecordingBenchmarks.ring()
    add(
      "recording into the ring against not recording",
      "at most 1.3 times the time an event",
      "\(cost.ratio.rounded(2)) times, \(cost.recorded.rounded(0)) against \(cost.bare.rounded(0)) ns",
      cost.ratio <= 1.3
    )
  }

  static func file() throws {
    for (name, redactor) in [("all values kept", Redactor.none), ("digests", .digests())] {
      let cost = try RecordingBenchmarks.file(redactor)
      add(
        "recording one-record events of 5 fields to a file, \(name)",
        "200,000 events/s",
        "\(cost.eventsPerSecond.grouped) events/s, of \((1e9 / cost.bare).grouped) not recorded",
        cost.eventsPerSecond >= 200_000
      )
      let edits = try RecordingBenchmarks.edits(redactor)
      add(
        "the same, every event an edit that joins the queue, no rotation",
        "200,000 events/s",
        "\(edits.grouped) events/s",
        edits >= 200_000
      )
    }
    try printCoder()
  }

  /// The toolchain's coder for the same values: no target, but what the others are held against.
  private static func printCoder() throws {
    let events = try JSONCoderBenchmarks.events()
    let structs = try JSONCoderBenchmarks.structs()
    for (name, rates) in [("the events", events), ("plain structs of edits", structs)] {
      print(
        "JSONEncoder alone, \(name): \(rates.encode.grouped) events/s;"
          + " JSONDecoder alone: \(rates.decode.grouped) events/s"
      )
    }
  }

  static func reading() throws {
    let folder = try ScratchFolder()
    let (short, long) = (folder.path("short.jsonl"), folder.path("long.jsonl"))
    try BenchmarkLogs.plain(100_000, at: short)
    let rate = try ReadingBenchmarks.eventsPerSecond(short)
    add(
      "reading and folding from a file",
      "200,000 events/s",
      "\(rate.grouped) events/s",
      rate >= 200_000
    )
    try BenchmarkLogs.plain(1_000_000, at: long)
    let peaks = try [short, long].map { try Peak.ofProcess(["fold", $0]) }
    add(
      "memory for it at most, 100,000 and 1,000,000 events",
      "the same",
      "\(peaks[0]) and \(peaks[1]) kB, files of \(try folder.size("short.jsonl") / 1_000_000)"
        + " and \(try folder.size("long.jsonl") / 1_000_000) MB",
      peaks[0] > 0 && Double(peaks[1]) <= Double(peaks[0]) * 1.1 + 1_000
    )
    try printCoder()
  }

  static func rerun() throws {
    let folder = try ScratchFolder()
    let path = folder.path("session.jsonl")
    for (name, make) in [
      ("one-record operations", BenchmarkLogs.plain), ("an eventful run", BenchmarkLogs.eventful),
    ] {
      try make(100_000, path)
      let rate = try ReplayBenchmarks.rerun(EventLog(path: path))
      add("re-run, \(name)", "100,000 events/s", "\(rate.grouped) events/s", rate >= 100_000)
    }
  }

  static func jump() throws {
    let folder = try ScratchFolder()
    let path = folder.path("session.jsonl")
    for (name, make) in [
      ("one-record operations", BenchmarkLogs.plain), ("an eventful run", BenchmarkLogs.eventful),
    ] {
      try make(1_000_000, path)
      let clock = ContinuousClock()
      let start = clock.now
      let log = try EventLog(path: path)
      let opened = (clock.now - start).nanoseconds / 1e9
      let jumps = try ReplayBenchmarks.jumps(log)
      add(
        "state at any of 1,000,000 events, \(name)",
        "at most 50 ms",
        "\(jumps.median.rounded(1)) ms, longest \(jumps.longest.rounded(1)) ms;"
          + " opened in \(opened.rounded(1)) s",
        jumps.longest <= 50
      )
    }
  }

  static func report() throws {
    let folder = try ScratchFolder()
    let path = folder.path("session.jsonl")
    try BenchmarkLogs.eventful(100_000, at: path)
    let log = try EventLog(path: path)
    let (seconds, bytes) = try ReplayBenchmarks.report(log, in: folder)
    add(
      "report of 100,000 events of an eventful run",
      "under 5 s to write",
      "\(seconds.rounded(2)) s, \(bytes / 1_000_000) MB",
      seconds < 5
    )
  }
}
