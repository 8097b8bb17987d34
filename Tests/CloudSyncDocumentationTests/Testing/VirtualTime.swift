import CloudSyncSession
import CloudSyncSimulator
import Testing

@Suite("Tests in virtual time")
struct VirtualTimeTests {
  let zoneID = ZoneID(name: "Notes")

  // SAMPLE: CloudSyncSimulator/CloudSyncSimulator.md
  @Test("An edit that meets no network is sent when there is one")
  func waits() throws {
    var record = Record(recordType: "Note", recordID: RecordID(name: "a", zoneID: zoneID))
    record["text"] = "Buy milk"
    let world = SimulatedEnvironment()
    let handler = ScriptedOperationHandler(
      in: world,
      [
        .createZone(), .createSubscription(),
        .modify(saving: ["a"], .failure(SyncError(.networkFailure))),
        .modify(saving: ["a"]),
      ]
    )
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: zoneID,
      environment: world.environment
    )
    session.start()
    try session.modify(ModifyOperation(records: [record]))
    world.advance(by: .seconds(30))
    #expect(handler.mismatches.isEmpty && handler.remaining.isEmpty)
  }
  // SAMPLE: end
}

@Suite("Whole simulations")
struct WholeSimulationTests {
  typealias MyDevice = NotesDevice

  // SAMPLE: CloudSyncSimulator/CloudSyncSimulator.md
  @Test("Devices converge whatever goes wrong", arguments: UInt64(1)...4)
  func converges(seed: UInt64) {
    let outcome = Simulation<MyDevice>(SimulationOptions(seed: seed)).run()
    #expect(outcome.violation == nil)
  }
  // SAMPLE: end
}
