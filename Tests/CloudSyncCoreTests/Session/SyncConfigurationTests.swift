import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SyncConfiguration")
struct SyncConfigurationTests {
  /// One value that no session can work with.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable (inout SyncConfiguration) -> Void
    var testDescription: String { name }

    init(_ name: String, _ make: @escaping @Sendable (inout SyncConfiguration) -> Void) {
      self.name = name
      self.make = make
    }

    var configuration: SyncConfiguration {
      var configuration = SyncConfiguration()
      make(&configuration)
      return configuration
    }
  }

  private static let mistakes = [
    Mistake("timeout") { $0.timeout = .zero },
    Mistake("timeout") { $0.timeout = .seconds(-1) },
    Mistake("firstWait") { $0.firstWait = .zero },
    Mistake("firstWait") { $0.firstWait = .microseconds(999) },
    Mistake("longestWait") { $0.longestWait = .zero },
    Mistake("longestWait") { $0.longestWait = .milliseconds(999) },
    Mistake("conflictBudget") { $0.conflictBudget = -1 },
    Mistake("failureBudget") { $0.failureBudget = -1 },
    Mistake("lostResponseBudget") { $0.lostResponseBudget = 0 },
    Mistake("zoneBudget") { $0.zoneBudget = 0 },
    Mistake("parkingBudget") { $0.parkingBudget = 0 },
    Mistake("stuckTokenBudget") { $0.stuckTokenBudget = 0 },
    Mistake("pageBudget") { $0.pageBudget = 0 },
    Mistake("limits") { configuration in
      var limits = RequestLimits()
      limits.items = 0
      configuration.limits = limits
    },
  ]

  @Test("The default is in order, and so are the least values")
  func proper() {
    #expect(SyncConfiguration().problem == nil)
    var least = SyncConfiguration()
    least.limits = RequestLimits(items: 0, bytes: 0)
    least.timeout = .milliseconds(1)
    least.firstWait = .milliseconds(1)
    least.longestWait = .milliseconds(1)
    least.conflictBudget = 0
    least.failureBudget = 0
    least.zoneBudget = 1
    least.parkingBudget = 1
    least.stuckTokenBudget = 1
    least.pageBudget = 1
    #expect(least.problem == nil)
  }

  @Test(
    "A value that no session can work with is named, with what to give instead",
    arguments: mistakes
  )
  func named(mistake: Mistake) throws {
    let problem = try #require(mistake.configuration.problem)

    #expect(problem.hasPrefix("\(mistake.name) is "))
    #expect(problem.contains("at least"))
  }

  @Test("A session is not made with such a value")
  func traps() async {
    await #expect(processExitsWith: .failure) {
      var configuration = SyncConfiguration()
      configuration.timeout = .zero
      _ = SessionHarness(configuration: configuration)
    }
    await #expect(processExitsWith: .failure) {
      var configuration = SyncConfiguration()
      configuration.stuckTokenBudget = 0
      _ = SessionHarness(configuration: configuration)
    }
  }

  @Test("Stored bytes with such a value are refused, and do not trap")
  func stored() throws {
    for mistake in Self.mistakes where mistake.name != "limits" {
      let state = SyncState(zoneID: SessionHarness.zoneID, configuration: mistake.configuration)
      let bytes = SyncArchive.frame(of: state)

      let error = #expect(throws: CodedError.self) { _ = try SyncArchive(bytes) }
      #expect(error?.reason.hasPrefix("\(mistake.name) is ") == true)
    }
  }
}
