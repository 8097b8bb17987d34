public import CloudSyncCore
import CloudSyncVirtualTime

/// The wall clock of a device in a simulated world: it may be wrong, and it may be set.
public final class SimulatedClock: Sendable {
  private let world: SimulatedEnvironment
  /// How many nanoseconds it is ahead of the world's time.
  private let lead: Locked<Int64>

  /// Creates a clock.
  ///
  /// - Parameters:
  ///   - world: The world whose time it shows.
  ///   - skew: How far it is ahead; behind if negative.
  public init(in world: SimulatedEnvironment, skew: Duration = .zero) {
    self.world = world
    lead = Locked(skew.signedNanoseconds)
  }

  /// What the clock shows.
  public var now: Timestamp {
    Timestamp(nanoseconds: world.now.nanoseconds &+ lead.withLock { $0 })
  }

  /// Sets the clock forward, or back; timers do not notice.
  public func jump(by amount: Duration) {
    let nanoseconds = amount.signedNanoseconds
    lead.withLock { $0 &+= nanoseconds }
  }
}
