#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport

extension SyncWork {
  /// Whether it looks up records: for the sake of a modification, or because the app wants to.
  var isLookup: Bool {
    if case .fetch(let operation) = self { !operation.recordIDs.isEmpty } else { false }
  }
}

/// What the app of a script keeps, also over the end of a process.
struct ScriptApp: Sendable {
  var version = 0
  /// The versions of each record that the app has seen, oldest first.
  var known: [String: [Record]] = [:]
  /// What the pages of fetches made of the zone.
  var mirror: [String: Record] = [:]
  /// The records of the present run, if it began from nothing.
  var seen: Set<String> = []
  /// The records that pages could not bring, and that are to be looked up.
  var unread: Set<String> = []
  /// The token that was stored with the mirror.
  var token: ChangeToken?
  /// The last page that was stored.
  var lastPage: UInt64 = 0
  /// Records that the app has dropped.
  var dropped: Set<String> = []
  /// Pages that are delivered and neither stored nor refused.
  var pending: [PageID: FetchOperation.Response] = [:]

  mutating func learn(_ record: Record) {
    var versions = known[record.recordID.name] ?? []
    versions.append(record)
    known[record.recordID.name] = Array(versions.suffix(4))
  }

  mutating func forgetAccount() {
    mirror = [:]
    unread = []
    seen = []
    token = nil
    pending = [:]
  }
}

/// The first thing that went wrong in a script, and on demand all that happened.
final class ScriptReport: Sendable {
  private let isTracing: Bool
  private let lines = Locked<[String]>([])
  private let first = Locked<String?>(nil)

  init(isTracing: Bool) { self.isTracing = isTracing }

  var violation: String? { first.withLock { $0 } }
  var trace: [String] { lines.withLock { $0 } }

  func note(_ text: @autoclosure () -> String) {
    guard isTracing else { return }
    let text = text()
    lines.withLock { $0.append(text) }
  }

  func fail(_ text: @autoclosure () -> String) {
    guard violation == nil else { return }
    let text = text()
    first.withLock { $0 = text }
    note("VIOLATION: \(text)")
  }
}

/// Everything that a script remembers, and the checks on it.
struct ScriptMemory: Sendable {
  /// A request whose response was lost.
  struct Lost: Sendable {
    var operation: ModifyOperation
    var token: WriteToken
  }

  let plan: ScriptPlan
  var cloud: StubCloudState
  /// What an account provider says whoever is signed in.
  var trouble: AccountStatus?
  var ledger = ScriptLedger()
  var app = ScriptApp()
  let report: ScriptReport
  var isQuiet = false

  // MARK: The process

  var process = 1
  /// Whether the process has ended; what still happens in it is not real.
  var isDown = false
  var lastCompleted: UInt64 = 0
  var records: [EventRecord] = []
  /// The bytes of all events of all processes, if the plan asks for them.
  var recordBytes: [UInt8] = []
  var finalState = Data()
  var initialState: SyncState?
  var archive = Data()
  var frames = 0
  var frameEnds: [Int] = []
  /// Operations before this ticket belong to an epoch that has ended.
  var resetBefore = 0
  /// The same once the last call of `reset()` has been taken.
  var nextResetBefore = 0
  /// Whether the session is started, by the events.
  var isRunning = false
  /// The state when the handler was called last.
  var present: SyncState?

  // MARK: The wire

  var calls = 0
  /// How many calls were made without any time between them.
  var callsInRow = 0
  var lastCallAt: Int64 = 0
  var current: (attempt: Attempt, call: SyncWork, token: WriteToken)?
  var delivered: [Attempt: StubCloud.Answer] = [:]
  var taken: Set<Attempt> = []
  var tokens: [WriteToken: ModifyOperation] = [:]
  var lost: Lost?
  /// Whether the app had given operations up that could not end yet.
  var hasCancellations = false
  /// Until when the server asked for peace, by the clock that only goes forward.
  var peace: Int64 = 0
  /// Until when the session has to wait by itself, at least.
  var pause: Int64 = 0
  var lastTurn: OperationMode?
  /// Until when timers may come late because the wall clock was set forward: they were set before.
  var lateUntil: Int64 = 0
  var mutant = MutantMemory()
  var covered: Set<String> = []

  // MARK: The records in the cloud

  /// The numbers of the operations of the last request carried out for a record.
  var lastSources: [String: [UInt64]] = [:]
  /// The newest version of a field since the record last began to exist.
  var newest: [String: Int] = [:]
  /// Records about which a resolver decided, with the newest revision it saw.
  var decidedRecords: [String: Int] = [:]
  /// Fields for which a resolver decided for this device, with the revision it saw.
  var keptFields: [String: Int] = [:]

  init(_ plan: ScriptPlan, isTracing: Bool) {
    self.plan = plan
    report = ScriptReport(isTracing: isTracing)
    cloud = StubCloudState(plan.cloud)
  }

  var violation: String? { report.violation }

  func note(_ text: @autoclosure () -> String) { report.note(text()) }
  func fail(_ text: @autoclosure () -> String) { report.fail(text()) }

  func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { report.fail(text()) }
  }

  /// Forgets whose version of a record's fields is in the cloud, when the record is gone.
  mutating func forgetVersions(_ name: String) {
    for field in ["f0", "f1", "f2"] { newest["\(name).\(field)"] = nil }
  }

  mutating func forgetAllVersions() {
    newest = [:]
    ledger.tainted.formUnion(ScriptPlan.names)
  }
}
