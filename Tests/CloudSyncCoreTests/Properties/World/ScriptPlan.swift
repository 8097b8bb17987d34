import CloudSyncCore
import CloudSyncTestSupport

/// Everything about a script that is drawn from its seed before it begins.
struct ScriptPlan: Sendable {
  enum Resolver: Sendable, CaseIterable {
    case client, fieldwise, server, park, later, sometimesHalt
  }

  /// The names of the records that scripts are about.
  static let names = (0..<6).map { "r\($0)" }

  var seed: UInt64
  var steps: [ScriptStep] = []
  var limits = RequestLimits()
  var configuration = SyncConfiguration()
  var resolver = Resolver.client
  var hasProvider = false
  /// Whether other devices write fields that this one writes.
  var sharesFields = false
  /// Of a hundred calls, how many go wrong.
  var faultRate = 0
  /// Of a hundred announcements, how many the app answers with a call.
  var reactionRate = 0
  /// Calls of the handler that go well whatever is drawn for them: for finding the least script.
  var sparedCalls: Set<Int> = []
  var cloud = StubCloud.Options()
  /// Ends the process when so many frames have been written, in the first process only.
  var crashAtFrame: Int?
  /// Whether the frame at which the process ends is torn in the middle.
  var tearsFrame = false
  /// Whether the bytes of all events are kept.
  var keepsBytes = false
  /// Whether the app has a middleware that drops some of its calls.
  var dropsCalls = false
  /// Whether pages lack records that the handler could not read, which the app looks up.
  var losesRecords = false
  /// Breaks something on purpose.
  var mutant: Mutant?

  init(seed: UInt64, stepCount: Int) {
    self.seed = seed
    var random = SplitMix64(seed: seed)
    limits = RequestLimits(items: 1 + random.below(5), bytes: random.chance(1, in: 4) ? 40 : 10_000)
    drawConfiguration(&random)
    resolver = random.chance(1, in: 2) ? .client : random.pick(Resolver.allCases)
    hasProvider = random.chance(1, in: 2)
    sharesFields = random.chance(1, in: 3)
    faultRate = random.pick([0, 20, 20, 35, 50])
    reactionRate = random.pick([0, 0, 15])
    drawCloud(&random)
    dropsCalls = seed % 6 == 5
    losesRecords = seed % 6 == 4
    if seed % 6 == 3 { configuration.refusedItems = .handBack }
    configuration.lostResponseBudget = [8, 1, 2][Int(seed / 6 % 3)]
    for _ in 0..<stepCount {
      let action = ScriptAction.draw(&random, self)
      let isRushed = random.chance(1, in: 5)
      let pause = random.chance(1, in: 14) ? 320_000 : random.pick([0, 100, 700, 2_000, 9_000])
      steps.append(ScriptStep(action: action, isRushed: isRushed, pause: pause))
    }
  }

  private mutating func drawCloud(_ random: inout SplitMix64) {
    cloud.limits = limits
    cloud.hasZone = false
    cloud.refusesMissingDeletions = true
    cloud.isAtomic = random.chance(1, in: 2)
    cloud.knowsWriteTokens = random.chance(2, in: 3)
    cloud.remembersRefusals = false
    cloud.tellsConflictingRecords = random.chance(3, in: 4)
    cloud.failsAsError = random.chance(1, in: 2)
    cloud.reversesSavedRecords = random.chance(1, in: 4)
    cloud.pageSize = 1 + random.below(4)
  }

  private mutating func drawConfiguration(_ random: inout SplitMix64) {
    configuration.acknowledgesPages = random.chance(1, in: 3)
    configuration.conflictBudget = random.pick([1, 3, 5])
    configuration.failureBudget = random.pick([1, 3, 5])
    configuration.zoneBudget = random.pick([1, 5])
    configuration.parkingBudget = random.pick([4, 100])
    configuration.stuckTokenBudget = random.pick([2, 3])
    configuration.missingRecordPolicy = random.chance(3, in: 4) ? .recreate : .park
    if random.chance(1, in: 3) { configuration.zonePolicy.missing = .ask }
    if random.chance(1, in: 3) { configuration.zonePolicy.purged = .recreate }
  }
}

extension ScriptPlan: CustomStringConvertible {
  var description: String {
    var lines = [
      "seed \(seed), limits \(limits.items) items \(limits.bytes) bytes, resolver \(resolver), "
        + "provider \(hasProvider), shares \(sharesFields), faults \(faultRate) %, "
        + "reactions \(reactionRate) %, drops calls \(dropsCalls), loses records \(losesRecords), "
        + "refused items \(configuration.refusedItems)",
      "cloud: atomic \(cloud.isAtomic), knows tokens \(cloud.knowsWriteTokens), tells conflicts "
        + "\(cloud.tellsConflictingRecords), fails as error \(cloud.failsAsError), reverses "
        + "\(cloud.reversesSavedRecords), page size \(cloud.pageSize)",
      "acknowledges \(configuration.acknowledgesPages), budgets: conflict "
        + "\(configuration.conflictBudget), failure \(configuration.failureBudget), zone "
        + "\(configuration.zoneBudget), parking \(configuration.parkingBudget), stuck "
        + "\(configuration.stuckTokenBudget), lost \(configuration.lostResponseBudget); missing record \(configuration.missingRecordPolicy), "
        + "zone \(configuration.zonePolicy.missing)/\(configuration.zonePolicy.purged)",
    ]
    if let crashAtFrame { lines.append("crash at frame \(crashAtFrame), torn \(tearsFrame)") }
    for (number, step) in steps.enumerated() {
      lines.append(
        "  \(number): \(step.action), \(step.pause) ms\(step.isRushed ? ", rushed" : "")"
      )
    }
    return lines.joined(separator: "\n")
  }
}

/// A middleware of the app's own that drops some of its calls.
struct CallDropper: Middleware {
  static func drops(_ id: OperationID) -> Bool { id.number % 9 == 4 }

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    switch event {
    case .doWork(.modify(let operation)) where Self.drops(operation.id): next(.noop)
    // What it puts in the place of a call ends the call too.
    case .doWork(.fetch(let operation)) where Self.drops(operation.id): next(.delivered(upTo: 0))
    default: next(event)
    }
  }
}
