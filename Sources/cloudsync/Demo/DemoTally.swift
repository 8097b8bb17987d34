import CloudSyncCore
import CloudSyncEventLog

/// What a device did, by the logs of its sessions: each is run again, and gets a report.
struct DemoTally: Encodable {
  /// A session, which ends where the engine begins anew with another one.
  struct Part: Encodable {
    var log: String
    var report: String
    var events: Int
  }

  let device: String
  private(set) var requests = 0
  private(set) var retries = 0
  /// How many rows had to be merged; the record of the zone's own, which devices share, is none.
  let conflicts: Int
  private(set) var sessions: [Part] = []
  /// The log that is not the same when it is run again, if there is one.
  private(set) var unfaithfulLog: String?

  /// Reads the logs that were written of a device.
  init(_ device: String, of listener: DemoListener) throws {
    self.device = device
    conflicts = listener.conflicts
    let recordings = listener.recordings
    for (place, recording) in recordings.enumerated() {
      let session = recordings.count == 1 ? "" : ", session \(place + 1) of \(recordings.count)"
      try add(recording, title: "The \(device)\(session)")
    }
  }

  /// How many events all its sessions had.
  var events: Int { sessions.reduce(0) { $0 + $1.events } }

  private mutating func add(_ recording: DemoListener.Recording, title: String) throws {
    func sum(of counts: [LogStatistics.Count]) -> Int { counts.reduce(0) { $0 + $1.count } }
    try recording.recorder.flush()
    let log = try EventLog(path: recording.path)
    let statistics = try LogStatistics(of: log)
    let report = String(recording.path.dropLast("jsonl".count)) + "html"
    try LogReport.write(log, toFile: report, title: title)
    let isFaithful = try Replay.rerun(log).isFaithful
    if !isFaithful { unfaithfulLog = recording.path }
    requests += sum(of: statistics.requests)
    retries += sum(of: statistics.retries)
    sessions.append(Part(log: recording.path, report: report, events: log.count))
  }
}
