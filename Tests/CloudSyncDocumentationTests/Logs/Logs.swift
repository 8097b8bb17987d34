import CloudSyncEventLog
import CloudSyncLogTestGeneration
import CloudSyncSession

enum LogSamples {
  static func record(_ session: CloudSyncSession, to path: String) throws {
    // SAMPLE: CloudSyncEventLog/CloudSyncEventLog.md
    let recorder = EventRecorder(.ring())
    recorder.attach(to: session)
    // … something goes wrong …
    try recorder.save(to: path)
    // SAMPLE: end
  }

  static func ask() throws {
    // SAMPLE: CloudSyncEventLog/CloudSyncEventLog.md
    let log = try EventLog(path: "session.jsonl")
    print(try log.state(at: 1_234).explain(at: log.header.time))
    print(try Replay.rerun(log).isFaithful)
    // SAMPLE: end
  }

  static func generate() throws {
    // SAMPLE: CloudSyncLogTestGeneration/CloudSyncLogTestGeneration.md
    let log = try EventLog(path: "session.jsonl")
    let script = try SessionScript(log)
    print(try script.run().finalError as Any)
    // SAMPLE: end
  }
}
