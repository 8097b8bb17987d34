import CloudSyncCore

/// What is worth a mark about an event.
struct EventMarks: OptionSet, Sendable {
  let rawValue: UInt8

  static let error = Self(rawValue: 1)
  static let retry = Self(rawValue: 2)
  static let conflict = Self(rawValue: 4)
  static let split = Self(rawValue: 8)
  static let parked = Self(rawValue: 16)
  static let halt = Self(rawValue: 32)

  /// The names, in the order of the bits.
  static let names = ["error", "retry", "conflict", "split", "parked", "halt"]

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ step: LogStep) {
    self.init(step.record.event)
    // A response that reports success may stop the session all the same.
    if step.silentHalt != nil { formUnion([.halt, .error]) }
  }

  private init(_ event: SyncEvent) {
    switch event {
    case .halt(let error): self = error.code == .stopped ? .halt : [.halt, .error]
    case .workFailure(_, let error):
      self = error.code == .serverRecordChanged ? [.error, .conflict] : .error
    case .workSuccess(_, .modify(let response)): self = response.failures.isEmpty ? [] : .error
    case .settleItems(_, let settlement): self = Self(settlement)
    case .resolveConflict(_, let settlement): self = Self(settlement).union(.conflict)
    case .retry: self = [.error, .retry]
    case .retryWork: self = .retry
    case .split: self = [.error, .split]
    case .startOver, .failFetch, .workDropped: self = .error
    default: self = []
    }
  }

  private init(_ settlement: Settlement) {
    var marks: Self = settlement.error == nil && settlement.halt == nil ? [] : .error
    if settlement.halt != nil { marks.insert(.halt) }
    if settlement.isTooLarge { marks.insert(.split) }
    for verdict in settlement.verdicts {
      switch verdict {
      case .resolved, .lookUp: marks.formUnion([.error, .conflict, .retry])
      case .recreate, .again: marks.formUnion([.error, .retry])
      // What the app brings together itself, as a storage layer does that merges.
      case .park(let error) where error.code == .awaitsAppEdit:
        marks.formUnion([.error, .conflict])
      case .park, .parkForQuota: marks.formUnion([.error, .parked])
      case .saved, .deleted, .alreadyThere, .stay: break
      }
    }
    self = marks
  }
}

extension SyncEvent {
  /// The kind of work that an event is about, for its place in a timeline.
  func mode(in flight: Flight?) -> OperationMode? {
    switch self {
    case .doWork(let work), .workDropped(let work): work.mode
    case .startWork(let request), .retryWork(let request): request.mode
    case .acknowledge: .fetch
    case .retryParked, .dropParked: .modify
    default: attempt != nil && attempt == flight?.attempt ? flight?.mode : nil
    }
  }
}
