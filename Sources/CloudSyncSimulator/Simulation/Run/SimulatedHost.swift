import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud

/// What changes about a device in its place.
struct HostState: Sendable {
  var process: SimulatedProcess?
  /// Counts the processes.
  var processes = 0
  var faulty: FaultyOperationHandler?
  var coverage = FaultCoverage()
  var status = AccountStatus.available
  /// Whether somebody else is signed in.
  var isForeign = false
  var isOffline = false
  var isPushed = false
  /// The session that the app made last, and its epoch when it was made: of one before it in the same process, which was
  /// stopped and may have something in flight, nobody hears any more.
  var session: ObjectIdentifier?
  var epoch: UInt64 = 0
  /// Whether the session of this process was started.
  var hasStarted = false
  var lastState: SyncState?
  var stateBefore: SyncState?
  var kills: SeededRandom
  /// What is behind the end of a torn journal.
  var tails: SeededRandom
  var random: SeededRandom
  /// What another session of the app does, and that session.
  var siblings: SeededRandom
  var sibling: CloudSyncSession?
  var recorders: [EventRecorder] = []
}

/// A device in its place: its clock, its account, its network and the process that runs.
final class SimulatedHost: Sendable {
  let number: Int
  let device: any SimulatedDevice
  let clock: SimulatedClock
  let connection: LocalCloudConnection
  let random: SeededRandom
  let state: Locked<HostState>

  init(
    number: Int,
    device: any SimulatedDevice,
    clock: SimulatedClock,
    connection: LocalCloudConnection,
    random: SeededRandom
  ) {
    self.number = number
    self.device = device
    self.clock = clock
    self.connection = connection
    self.random = random
    state = Locked(
      HostState(
        kills: random.fork(1),
        tails: random.fork(4),
        random: random.fork(2),
        siblings: random.fork(6)
      )
    )
  }

  var process: SimulatedProcess? { state.withLock { $0.process } }

  /// Whether a request is of the session that the app made last, and still has: of another one no event is heard either.
  func isHeard(_ attempt: Attempt) -> Bool {
    device.session != nil && state.withLock { $0.epoch <= attempt.epoch }
  }

  /// Whether the app runs and is not suspended.
  var isAwake: Bool { process.map { $0.isAlive && !$0.isStalled } ?? false }

  /// Why a request of this device cannot be carried out now.
  var refusal: SyncError? {
    state.withLock { state in
      switch state.status {
      case .available: state.isForeign ? SyncError(.notAuthenticated) : nil
      case .temporarilyUnavailable: SyncError(.accountTemporarilyUnavailable)
      default: SyncError(.notAuthenticated)
      }
    }
  }
}
