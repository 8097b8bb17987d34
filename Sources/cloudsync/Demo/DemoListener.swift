import CloudSyncCore
import CloudSyncEventLog
import Dispatch

/// Hears what the engine's sessions do, and records it.
final class DemoListener: Sendable {
  /// A session of the engine's, and the log of it.
  struct Recording: Sendable {
    var session: CloudSyncSession
    var recorder: EventRecorder
    var path: String
  }

  private struct State {
    var recordings: [Recording] = []
    var problem: String?
    var conflicts = 0
  }

  let tell: @Sendable (DemoWords) -> Void
  private let name: String
  private let folder: DemoFolder
  private let accountStatus: AccountStatusProvider?
  private let state = Locked(State())

  init(
    _ name: String,
    _ folder: DemoFolder,
    accountStatus: AccountStatusProvider? = nil,
    tell: @escaping @Sendable (DemoWords) -> Void
  ) {
    self.name = name
    self.folder = folder
    self.accountStatus = accountStatus
    self.tell = tell
  }

  var recordings: [Recording] { state.withLock { $0.recordings } }
  var problem: String? { state.withLock { $0.problem } }
  /// How many rows had to be merged.
  var conflicts: Int { state.withLock { $0.conflicts } }

  func fail(because problem: String) { state.withLock { $0.problem = $0.problem ?? problem } }

  /// Ends the event logs of sessions that run in real time, when all is in them.
  func end() {
    for recording in recordings {
      recording.recorder.detach(from: recording.session)
      let done = DispatchSemaphore(value: 0)
      recording.session.snapshot { _ in done.signal() }
      done.wait()
    }
  }

  /// Takes a session that is about to start; the engine makes a new one where it begins anew.
  func attach(to session: CloudSyncSession) {
    let number = recordings.count + 1
    let path = folder.file(named: number == 1 ? "\(name).jsonl" : "\(name)-\(number).jsonl")
    let recorder = EventRecorder(.file(LogFile(path: path)), redactor: .none)
    recorder.attach(to: session)
    state.withLock {
      $0.recordings.append(.init(session: session, recorder: recorder, path: path))
    }
    if let accountStatus {
      session.appendMiddleware(AccountStatusMiddleware(provider: accountStatus))
    }
    session.eventsPublisher.sink { [tell] record in
      if let words = record.event.demoWords { tell(words) }
    }
    session.modifyWorkCompletedSubject.sink { [tell, state] _, response in
      let names = response.failures.filter { $0.error.code == .awaitsAppEdit }
        .map { String($0.recordID.name.prefix { $0 != ":" }) }
      if names.isEmpty { return }
      // The zone's own record is no row.
      let rows = names.filter { !$0.hasPrefix("cloudsync_") }
      state.withLock { $0.conflicts += rows.count }
      let which =
        switch rows.count {
        case 0: "the zone's own record"
        case ...3: rows.joined(separator: ", ")
        default: Phrase.count(rows.count, "row")
        }
      tell(
        DemoWords(text: "conflict on \(which): merges both edits, sends", isDetail: rows.isEmpty)
      )
    }
    session.zoneSubject.sink { [tell] zone in
      switch zone {
      case .lost, .creating(.some):
        tell(DemoWords(text: "finds the zone gone: creates it again, sends all its rows"))
      default: break
      }
    }
  }
}
