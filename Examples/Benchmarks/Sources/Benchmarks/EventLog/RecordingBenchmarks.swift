import CloudSyncEventLog
import CloudSyncSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What recording costs the session that is recorded.
enum RecordingBenchmarks {
  private static let queued = 1_000
  private static let operations = World.operations(50_000, from: queued)
  private static let runs = 7

  /// Nanoseconds for an event, not recorded and recorded, and the ratio of both in one run.
  struct Cost {
    var bare: Double
    var recorded: Double
    var ratio: Double
    /// Events a second, the session's own work included.
    var eventsPerSecond: Double { 1e9 / recorded }
  }

  /// The same session not recorded and recorded, in turn; medians.
  private static func cost(of makeRecorder: () throws -> EventRecorder) throws -> Cost {
    var pairs: [(bare: Double, recorded: Double)] = []
    for run in 0...runs {
      let bare = try OneRecordSession(queued: queued).run(operations)
      let recorder = try makeRecorder()
      let recording = try OneRecordSession(queued: queued, recorder: recorder)
      let recorded = try recording.run(operations)
      recorder.detach(from: recording.session)
      try recorder.flush()
      // The first run warms up.
      if run > 0 { pairs.append((bare, recorded)) }
    }
    return Cost(
      bare: pairs.map(\.bare).sorted()[runs / 2],
      recorded: pairs.map(\.recorded).sorted()[runs / 2],
      ratio: pairs.map { $0.recorded / $0.bare }.sorted()[runs / 2]
    )
  }

  /// Into the ring of the default size.
  static func ring() throws -> Cost { try cost { EventRecorder(.ring()) } }

  /// Into files of the default size, which are rotated on the way.
  static func file(_ redactor: Redactor) throws -> Cost {
    let folder = try ScratchFolder()
    return try cost {
      EventRecorder(.file(LogFile(path: folder.path("session.jsonl"))), redactor: redactor)
    }
  }

  /// Into a file when every event is an edit of one record that joins the queue; events a second.
  static func edits(_ redactor: Redactor) throws -> Double {
    let folder = try ScratchFolder()
    var times: [Double] = []
    for run in 0...runs {
      let file = LogFile(path: folder.path("edits.jsonl"), byteLimit: .max)
      let recorder = EventRecorder(.file(file), redactor: redactor)
      let stopped = try OneRecordSession(queued: 0, recorder: recorder)
      stopped.session.stop()
      let clock = ContinuousClock()
      let start = clock.now
      for operation in operations { try stopped.session.modify(operation) }
      let elapsed = (clock.now - start).nanoseconds
      recorder.detach(from: stopped.session)
      try recorder.flush()
      if run > 0 { times.append(elapsed) }
    }
    return Double(operations.count) / times.sorted()[runs / 2] * 1e9
  }
}
