import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Simulation")
struct SimulationTests {
  private static func options(_ seed: UInt64, edits: Int = 60) -> SimulationOptions {
    var options = SimulationOptions(seed: seed)
    options.edits = edits
    return options
  }

  @Test(
    "Devices converge whatever goes wrong",
    arguments: 1...UInt64(SuiteSize.count(2, long: 24))
  )
  func converges(seed: UInt64) {
    let outcome = Simulation<NotesDevice>(Self.options(seed)).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
    #expect(outcome.eventCount > 100)
  }

  @Test(
    "Seeds that have found something stay well",
    arguments: SuiteSize.few(
      2,
      of: [
        UInt64(5), 25, 27, 105, 155, 1097, 314_643, 315_753, 330_615, 403_049, 422_618, 430_815,
        431_142, 508_871, 516_004, 1_002_607, 3_002_121, 5_003_856, 5_295_858,
      ]
    )
  )
  func foundSeeds(seed: UInt64) {
    let outcome = Simulation<NotesDevice>(SimulationOptions(seed: seed)).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test(
    "Devices see that a cloud was put back, also where they have saved since they fetched",
    arguments: SuiteSize.few(2, of: [UInt64(14), 36, 270, 3, 4, 5])
  )
  func storeRestored(seed: UInt64) throws {
    var options = SimulationOptions(seed: seed)
    options.faults = try FaultPlan(parsing: "default,store-restored=1/60")
    let outcome = Simulation<NotesDevice>(options).run()

    #expect(outcome.violation == nil, "replay with: \(outcome.options.command)")
  }

  @Test("Nothing goes wrong where nothing is to go wrong")
  func withoutFaults() {
    var options = Self.options(7)
    options.faults = .none
    let outcome = Simulation<NotesDevice>(options).run()

    #expect(outcome.violation == nil)
    #expect(FaultPoint.allCases.allSatisfy { outcome.coverage[$0] == 0 })
  }

  @Test("One device alone and no edits at all are simulations too")
  func smallest() {
    for (devices, edits) in [(1, 20), (2, 0), (1, 0), (6, 30)] {
      var options = Self.options(3, edits: edits)
      options.devices = devices
      #expect(Simulation<NotesDevice>(options).run().violation == nil)
    }
  }

  @Test(
    "The same seed gives the same logs byte for byte, and each log re-runs",
    arguments: SuiteSize.few(1, of: [UInt64(1), 2])
  )
  func isDeterministic(seed: UInt64) {
    let outcome = Simulation<NotesDevice>(Self.options(seed, edits: 40)).runTwice()

    #expect(outcome.violation == nil)
    #expect(outcome.logs.count >= 3)
    #expect(!outcome.logs.contains { $0.data.isEmpty })
  }

  @Test("Seeds differ")
  func seedsDiffer() {
    let digests = [1, 2].map { Simulation<NotesDevice>(Self.options($0, edits: 10)).run().digest }
    #expect(digests[0] != digests[1])
  }

  /// A checker that finds fault with the fifth edit.
  private final class Canary: SimulationChecker {
    let rule = "the canary must fail"

    func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
      guard case .edited(let edits) = event, edits.contains(where: { $0.number > 40 }) else {
        return nil
      }
      return "there is an edit \(edits[0].number)"
    }
  }

  @Test("A canary fails, is shrunk, and says how to see it again")
  func canary() {
    let simulation = Simulation<NotesDevice>(Self.options(11)) { [Canary()] }
    let outcome = simulation.run()
    guard let violation = outcome.violation else {
      Issue.record("the canary lives")
      return
    }
    let least = simulation.shrunk(violation, attempts: 60)
    #expect(least.edits < 60)
    #expect(least.devices == 1)
    #expect(least.faults == FaultPlan.none)
    #expect(least.command.hasPrefix("cloudsync simulate --seed 11 --devices 1 --edits "))
  }
}
