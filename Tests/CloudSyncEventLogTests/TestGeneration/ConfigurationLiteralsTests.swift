import CloudSyncCore
import Testing

@testable import CloudSyncLogTestGeneration

@Suite("A session's configuration in a test that is generated")
struct ConfigurationLiteralsTests {
  @Test("Nothing that differs from the default is forgotten, whatever settings there will be")
  func everySetting() {
    var changed = SyncConfiguration()
    changed.limits = RequestLimits(items: 7, bytes: 1_000)
    changed.timeout = .seconds(7)
    changed.firstWait = .seconds(2)
    changed.longestWait = .seconds(70)
    changed.conflictBudget = 7
    changed.failureBudget = 7
    changed.lostResponseBudget = 7
    changed.refusedItems = .handBack
    changed.zoneBudget = 7
    changed.parkingBudget = 7
    changed.stuckTokenBudget = 7
    changed.pageBudget = 7
    changed.acknowledgesPages = true
    changed.zonePolicy.missing = .ask
    changed.missingRecordPolicy = .park
    let changes = SwiftLiterals.changes(making: changed)
    let settings = Mirror(reflecting: changed).children.compactMap(\.label)
    #expect(settings.count > 10)
    for setting in settings {
      #expect(changes.contains { $0.hasPrefix(setting) }, "\(setting) is forgotten")
    }
    #expect(changes.contains("refusedItems = .handBack"))
    #expect(SwiftLiterals.changes(making: SyncConfiguration()).isEmpty)
  }
}
