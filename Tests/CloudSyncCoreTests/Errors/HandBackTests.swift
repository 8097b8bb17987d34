import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Refused items that are handed back")
struct HandBackTests {
  static var configuration: SyncConfiguration {
    var configuration = SyncConfiguration()
    configuration.refusedItems = .handBack
    return configuration
  }

  static func refusing(_ code: SyncError.Code) -> ScriptedHandler.Script {
    ScriptedHandler.Script(modify: { operation, _ in
      var response = ScriptedHandler.allSaved(operation)
      response.failures = operation.records.filter { $0.recordID.name.hasPrefix("bad") }
        .map { ItemFailure($0.recordID, SyncError(code)) }
      response.savedRecords.removeAll { $0.recordID.name.hasPrefix("bad") }
      return .success(response)
    })
  }

  @Test("The completion tells of them, and the session forgets them", arguments: [10, 25])
  func refused(code: Int) throws {
    let code = SyncError.Code(rawValue: code)
    let harness = SessionHarness(
      configuration: Self.configuration,
      script: Self.refusing(code)
    )
    harness.start()
    try harness.modify([.note("bad", 1), .note("a", 1)])
    harness.world.advance(by: .seconds(3_600))
    let response = try #require(harness.completions.entries.first?.response)
    #expect(response.failures.map(\.error.code) == [code])
    #expect(response.savedRecords.map(\.recordID.name) == ["a"])
    #expect(harness.state.parkedRecords.isEmpty && harness.handler.modifyCalls.count == 1)
    #expect(harness.brokenInvariant == nil)
  }

  @Test("After a hundred refusals in a row the session halts")
  func halt() throws {
    let harness = SessionHarness(
      configuration: Self.configuration,
      script: Self.refusing(.permissionFailure)
    )
    harness.start()
    for number in 0..<100 { try harness.modify([.note("bad\(number)", 1)]) }
    harness.world.advance(by: .seconds(60))
    #expect(harness.state.haltReason?.error.code == .tooManyParked)
    #expect(harness.completions.entries.count == 100)
  }

  @Test("A deletion whose response was lost is handed back, saves are repeated")
  func lostDeletion() throws {
    let harness = SessionHarness(
      configuration: Self.configuration,
      script: ScriptedHandler.Script(modify: { operation, number in
        number == 0
          ? .failure(.serverResponseLost) : .success(ScriptedHandler.allSaved(operation))
      })
    )
    harness.start()
    try harness.modify([.note("a", 1)], delete: ["gone"])
    harness.world.advance(by: .seconds(60))
    let response = try #require(harness.completions.entries.first?.response)
    #expect(response.failures.map(\.error.code) == [.outcomeUnknown])
    #expect(response.savedRecords.map(\.recordID.name) == ["a"])
    #expect(harness.handler.modifyCalls.map(\.names) == [["a", "-gone"], ["a"]])
    let tokens = harness.handler.modifyCalls.map(\.token)
    #expect(tokens[0] != tokens[1])
  }
}
