import CloudSyncSession
import CloudSyncSQLite

enum AccountsAndZonesSamples {
  /// What an app shows its user.
  struct Interface: Sendable {
    var ask: @Sendable (_ text: String) -> Void
  }

  static func prepare(
    accountStatus: AccountStatusProvider,
    interface: Interface
  ) -> SyncEngineOptions {
    // SAMPLE: CloudSyncSQLite/AccountsAndZones.md
    var options = SyncEngineOptions()
    options.accountProvider = accountStatus  // CloudKitAccount(container:).provider, for one
    options.signedOut = { .keepRows }
    options.accountSwitched = { _, _ in .wait }  // ask the user
    options.zoneLost = { loss in
      switch loss {
      case .missing, .encryptedDataReset: .uploadAgain
      case .purged: .wait  // the user has erased the app's data in the settings
      }
    }
    // SAMPLE: end
    return options
  }

  static func follow(_ engine: SyncEngine, _ interface: Interface) {
    // SAMPLE: CloudSyncSQLite/AccountsAndZones.md
    engine.questions.sink { question in
      switch question {
      case .accountSwitched(let old, let new):
        interface.ask("Your notes are those of \(old). Move them to \(new)?")
      case .zoneLost:
        interface.ask("Your notes were erased from iCloud. Keep them on this device?")
      }
    }
    // SAMPLE: end
  }

  static func answer(_ engine: SyncEngine, isYes: Bool) throws {
    // SAMPLE: CloudSyncSQLite/AccountsAndZones.md
    switch engine.question {
    case .accountSwitched: try engine.resolveAccountSwitch(isYes ? .adopt : .discard)
    case .zoneLost: try engine.decideZone(isYes ? .uploadAgain : .deleteLocalData)
    case nil: break  // another device has answered meanwhile
    }
    // SAMPLE: end
  }
}
