import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Sends everything that the sessions of a simulation ask through the bytes of the API.
private struct WireMutation: SimulationMutation {
  let zoneID: ZoneID

  func handler(base: any OperationHandler, device: Int) -> any OperationHandler {
    WireLoopbackHandler(base, zoneID: zoneID)
  }
}

@Suite("Simulation through bytes")
struct WireSimulationTests {
  @Test(
    "Devices converge whatever goes wrong, through JSON both ways",
    arguments: 1...UInt64(SuiteSize.count(2, long: 2000))
  )
  func converges(seed: UInt64) {
    var options = SimulationOptions(seed: seed)
    options.edits = 60
    var simulation = Simulation<NotesDevice>(options)
    simulation.mutation = WireMutation(zoneID: ZoneID(name: "Notes"))

    let outcome = simulation.run()

    #expect(outcome.violation == nil, "seed \(seed)")
    #expect(outcome.eventCount > 100)
  }
}
