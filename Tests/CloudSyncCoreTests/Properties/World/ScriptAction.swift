import CloudSyncCore
import CloudSyncTestSupport

/// What is done in one step of a script.
enum ScriptAction: Sendable {
  case modify(EditPlan)
  case fetch(startingOver: Bool, withToken: Bool)
  /// Looks a record up.
  case lookUp(Int)
  case start
  case stop
  case reset
  /// Cancels the operation that was submitted so many before the last.
  case cancel(Int)
  case retryNow
  case connectivityChanged
  /// Retries a parked record, or all.
  case retryParked(Int?)
  case dropParked(Int)
  case account(AccountChange)
  case resolveSwitch(AccountSwitchDecision)
  case decideZone(ZoneDecision)
  /// Sets the wall clock, by seconds.
  case jumpClock(Int)
  case otherDevice(OtherEdit, record: Int)
  case loseZone(ZoneLoss)
  case expireTokens
  case changeCloud(CloudBehavior)
  /// The process ends, and another one begins from stored bytes.
  case crash(fromSnapshot: Bool)
}

/// What an app submits in one operation.
struct EditPlan: Sendable {
  /// What happens to one record.
  enum Change: Sendable {
    /// Sets these fields.
    case set([Int])
    /// Sets or removes the field that may be removed.
    case toggle
    case delete
  }

  /// Which version of the record the app believes to edit.
  enum Base: Sendable {
    case fresh
    case stale(Int)
    case none
    /// The whole record that the app has, which it also gives as the ancestor.
    case whole
  }

  struct Item: Sendable {
    var record: Int
    var change: Change
    var base: Base
  }

  var items: [Item]
  var hasCheckpoint: Bool
}

/// What happens to the user's account.
enum AccountChange: Sendable {
  case signOut
  case other
  case back
  case trouble(AccountStatus)
}

/// What another device does to a record.
enum OtherEdit: Sendable {
  /// It writes a field of its own.
  case own
  /// It writes a field that this device writes, too.
  case shared
  case delete
}

/// How the cloud behaves for a while.
struct CloudBehavior: Sendable {
  var itemLimit: Int?
  var refused: [Int]
  var isFull: Bool
}

/// One step of a script.
struct ScriptStep: Sendable {
  var action: ScriptAction
  /// Whether the next step follows before the session has taken this one.
  var isRushed: Bool
  /// How long the step lasts, in milliseconds.
  var pause: Int
}

extension ScriptAction {
  /// Draws an action.
  static func draw(_ random: inout SplitMix64, _ plan: ScriptPlan) -> ScriptAction {
    switch random.below(100) {
    case 0..<38: .modify(.draw(&random))
    case 38..<46:
      .fetch(startingOver: random.chance(1, in: 6), withToken: random.chance(1, in: 3))
    case 46..<53: .start
    case 53..<55: .stop
    case 55: .reset
    case 56..<59: .cancel(random.below(5))
    case 59..<61: .retryNow
    case 61..<63: .connectivityChanged
    case 63..<68: .retryParked(random.chance(1, in: 2) ? nil : random.below(6))
    case 68: .dropParked(random.below(6))
    case 69..<73: drawAccount(&random, plan)
    case 73..<75: .decideZone(random.chance(1, in: 5) ? .abandon : .recreate)
    case 75: .jumpClock(random.pick([-100_000, -3_000, -20, 20, 3_000]))
    case 76..<85: drawOther(&random, plan)
    case 85: .loseZone(random.pick([.missing, .missing, .purged, .encryptedDataReset]))
    case 86: .expireTokens
    case 87..<91: .changeCloud(.draw(&random))
    case 91..<97: .crash(fromSnapshot: random.chance(1, in: 2))
    case 97: .lookUp(random.below(6))
    default: .modify(EditPlan(items: [], hasCheckpoint: true))
    }
  }

  private static func drawAccount(_ random: inout SplitMix64, _ plan: ScriptPlan) -> ScriptAction {
    guard plan.hasProvider else { return .connectivityChanged }
    switch random.below(9) {
    case 0: return .account(.signOut)
    case 1: return .account(.other)
    case 2, 3, 4: return .account(.back)
    case 5: return .account(.trouble(random.pick(AccountStatus.allCases)))
    default: return .resolveSwitch(random.pick(AccountSwitchDecision.allCases))
    }
  }

  private static func drawOther(_ random: inout SplitMix64, _ plan: ScriptPlan) -> ScriptAction {
    let kind: OtherEdit
    switch random.below(8) {
    case 0: kind = .delete
    case 1, 2: kind = plan.sharesFields ? .shared : .own
    default: kind = .own
    }
    return .otherDevice(kind, record: random.below(6))
  }
}

extension EditPlan {
  static func draw(_ random: inout SplitMix64) -> EditPlan {
    var items: [Item] = []
    for _ in 0...random.below(3) {
      let record = random.below(6)
      guard !items.contains(where: { $0.record == record }) else { continue }
      let change: Change =
        switch random.below(12) {
        case 0, 1: .delete
        case 2: .toggle
        case 3: .set([0, 1, 2])
        default: .set([random.below(3)])
        }
      let base: Base =
        switch random.below(8) {
        case 0, 1, 2, 3: .fresh
        case 4: .whole
        case 5: .none
        default: .stale(random.below(3))
        }
      items.append(Item(record: record, change: change, base: base))
    }
    return EditPlan(items: items, hasCheckpoint: random.chance(1, in: 4))
  }
}

extension CloudBehavior {
  static func draw(_ random: inout SplitMix64) -> CloudBehavior {
    CloudBehavior(
      itemLimit: random.chance(1, in: 3) ? random.below(3) + 1 : nil,
      refused: (0..<6).filter { _ in random.chance(1, in: 6) },
      isFull: random.chance(1, in: 4)
    )
  }
}

extension SplitMix64 {
  /// One of the choices, each as likely as the others.
  mutating func pick<Value>(_ choices: [Value]) -> Value { choices[below(choices.count)] }
}

extension EditPlan: CustomStringConvertible {
  var description: String {
    items.map { "r\($0.record) \($0.change) \($0.base)" }.joined(separator: "; ")
  }
}
