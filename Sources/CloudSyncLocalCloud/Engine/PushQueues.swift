import CloudSyncCore

/// The pushes that wait for devices, in the order in which they were made.
struct PushQueues: Sendable {
  typealias Listener = @Sendable (LocalCloudPush) -> Void

  private struct Waiting: Sendable {
    var push: LocalCloudPush
    var due: Timestamp
  }

  /// More than that wait for nobody: the oldest are lost.
  private static let limit = 10_000

  private var waiting: [Waiting] = []
  private var listeners: [(address: LocalCloudPush, listener: Listener)] = []
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: SplitMix64.mix(seed ^ 0x70_75_73_68)) }

  mutating func add(_ push: LocalCloudPush, rules: LocalCloudOptions.Pushes, now: Timestamp) {
    if rules.areMerged, waiting.contains(where: { $0.push == push }) { return }
    if rules.lostPerMille > 0, generator.below(1_000) < UInt64(rules.lostPerMille) { return }
    waiting.append(Waiting(push: push, due: now.adding(rules.delay)))
    if waiting.count > Self.limit { waiting.removeFirst(waiting.count - Self.limit) }
  }

  /// The pushes to an address that are due.
  mutating func removeDue(address: LocalCloudPush, now: Timestamp) -> [LocalCloudPush] {
    let isTaken = { (waiting: Waiting) in waiting.push == address && waiting.due <= now }
    let taken = waiting.filter(isTaken).map(\.push)
    if !taken.isEmpty { waiting.removeAll(where: isTaken) }
    return taken
  }

  mutating func listen(address: LocalCloudPush, listener: Listener?) {
    listeners.removeAll { $0.address == address }
    if let listener { listeners.append((address, listener)) }
  }

  /// Takes the first push that is due and that somebody listens for.
  mutating func nextToDeliver(now: Timestamp) -> (LocalCloudPush, Listener)? {
    if listeners.isEmpty { return nil }
    for index in waiting.indices where waiting[index].due <= now {
      let push = waiting[index].push
      if let found = listeners.first(where: { $0.address == push }) {
        waiting.remove(at: index)
        return (push, found.listener)
      }
    }
    return nil
  }
}
