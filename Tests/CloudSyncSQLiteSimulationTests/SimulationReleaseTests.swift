import CloudSyncCore
import CloudSyncSQLiteSimulation
import CloudSyncSimulator
import Testing

@Suite("What a simulation leaves")
struct SimulationReleaseTests {
  /// Something that is to be gone.
  private final class Held: Sendable {
    struct State {
      weak var object: (any AnyObject & Sendable)?
    }
    private let state: Locked<State>

    init(_ object: any AnyObject & Sendable) { state = Locked(State(object: object)) }

    var isThere: Bool { state.withLock { $0.object != nil } }
  }

  /// Remembers devices and sessions, without holding them.
  private final class Memory: SimulationChecker {
    let rule = "everything is remembered"
    private let held: Locked<[Held]>

    init(_ held: Locked<[Held]>) { self.held = held }

    func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
      if case .launched(let session) = event { held.withLock { $0.append(Held(session)) } }
      return nil
    }

    func finish(_ end: SimulationEnd) -> String? {
      for device in end.devices { held.withLock { $0.append(Held(device.device)) } }
      return nil
    }
  }

  /// How many devices and sessions there were, and how many are left.
  private func rest<Device: SimulatedDevice>(
    of device: Device.Type,
    _ faults: FaultPlan
  ) -> (all: Int, left: Int) {
    var options = SimulationOptions(seed: 4)
    options.edits = 8
    options.faults = faults
    let held = Locked<[Held]>([])
    _ = Simulation<Device>(options) { [Memory(held)] }.run()
    return held.withLock { held in (held.count, held.count(where: \.isThere)) }
  }

  @Test("A run that has ended lets go of its devices, their databases and their sessions")
  func release() {
    for faults in [FaultPlan.none, .default] {
      let (databases, notes) = (
        rest(of: SQLiteDevice.self, faults), rest(of: NotesDevice.self, faults)
      )
      #expect(databases.all >= 6 && databases.left == 0)
      #expect(notes.all >= 6 && notes.left == 0)
    }
  }
}
