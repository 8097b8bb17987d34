import CloudSyncCore

/// The requests of devices that wait to hear of a change of their account.
///
/// What it says is a hint to fetch. A device that is not known, as all are after a start, is answered at once, since
/// nobody knows what it has missed; one that asks again lets go of what it has asked before.
final class PushHub: Sendable {
  /// What a device that waits is told.
  enum Outcome: Sendable, Hashable {
    /// Something may have changed.
    case change
    /// The time is over, and nothing has changed.
    case nothing
  }

  typealias Completion = @Sendable (Outcome) -> Void

  private struct Poll: Sendable {
    var end: Timestamp
    var completion: Completion
  }

  private struct Device: Sendable {
    var name: String
    /// Whether something has changed since it was told last.
    var isBehind: Bool
    var poll: Poll?
  }

  private struct State: Sendable {
    /// By account; looked into, and gone through only where order is of no importance.
    var accounts: [[UInt8]: [Device]] = [:]
    var deviceCount = 0
    var isClosed = false
  }

  /// Above this number of devices those are forgotten that do not wait: they are answered at once next time.
  private static let deviceLimit = 65_536

  private let state = Locked(State())

  /// How many devices wait.
  var waiting: Int {
    state.withLock { state in
      state.accounts.values.reduce(0) { $0 + $1.count { $0.poll != nil } }
    }
  }

  /// Waits for a change that others make.
  ///
  /// - Parameters:
  ///   - access: Who waits.
  ///   - end: Until when.
  ///   - completion: Called once, before this call returns if there is something to tell.
  func wait(
    for access: ServiceAccess,
    until end: Timestamp,
    completion: @escaping Completion
  ) {
    let (former, outcome) = state.withLock { state -> (Poll?, Outcome?) in
      if state.isClosed { return (nil, .nothing) }
      let account = Array(access.account.value.utf8)
      var devices = state.accounts[account] ?? []
      defer { state.accounts[account] = devices }
      guard let place = devices.firstIndex(where: { UTF8Bytes.equal($0.name, access.device) })
      else {
        if state.deviceCount >= Self.deviceLimit {
          Self.forgetIdle(in: &state)
          devices = state.accounts[account] ?? []
        }
        devices.append(Device(name: access.device, isBehind: false))
        state.deviceCount += 1
        return (nil, .change)
      }
      let former = devices[place].poll
      devices[place].poll = nil
      if devices[place].isBehind {
        devices[place].isBehind = false
        return (former, .change)
      }
      devices[place].poll = Poll(end: end, completion: completion)
      return (former, nil)
    }
    former?.completion(.nothing)
    if let outcome { completion(outcome) }
  }

  /// Tells all devices of an account, but the one that has made a change.
  func announce(account: AccountIdentity, except device: String) {
    let told = state.withLock { state -> [Completion] in
      let account = Array(account.value.utf8)
      guard var devices = state.accounts[account] else { return [] }
      var told: [Completion] = []
      for place in devices.indices where !UTF8Bytes.equal(devices[place].name, device) {
        if let poll = devices[place].poll {
          told.append(poll.completion)
          devices[place].poll = nil
        } else {
          devices[place].isBehind = true
        }
      }
      state.accounts[account] = devices
      return told
    }
    for completion in told { completion(.change) }
  }

  /// Tells all devices of all accounts: somebody has changed something, and nobody knows what.
  func announceToAll() {
    let told = state.withLock { state -> [Completion] in
      let told = Self.takePolls(from: &state) { _ in true }
      state.accounts.removeAll()
      state.deviceCount = 0
      return told
    }
    for completion in told { completion(.change) }
  }

  /// Lets those go whose time is over.
  func end(now: Timestamp) {
    let ended = state.withLock { Self.takePolls(from: &$0) { $0.end <= now } }
    for completion in ended { completion(.nothing) }
  }

  /// Lets all go, and nobody wait any more.
  func close() {
    let ended = state.withLock { state in
      state.isClosed = true
      return Self.takePolls(from: &state) { _ in true }
    }
    for completion in ended { completion(.nothing) }
  }

  private static func takePolls(
    from state: inout State,
    where isTaken: (Poll) -> Bool
  ) -> [Completion] {
    var taken: [Completion] = []
    for account in state.accounts.keys {
      guard var devices = state.accounts[account] else { continue }
      var hasChanged = false
      for place in devices.indices {
        guard let poll = devices[place].poll, isTaken(poll) else { continue }
        taken.append(poll.completion)
        devices[place].poll = nil
        hasChanged = true
      }
      if hasChanged { state.accounts[account] = devices }
    }
    return taken
  }

  private static func forgetIdle(in state: inout State) {
    state.accounts = state.accounts.mapValues { $0.filter { $0.poll != nil } }
      .filter { !$0.value.isEmpty }
    state.deviceCount = state.accounts.values.reduce(0) { $0 + $1.count }
  }
}
