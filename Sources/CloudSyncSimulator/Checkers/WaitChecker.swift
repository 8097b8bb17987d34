import CloudSyncCore
import CloudSyncVirtualTime

/// A call that waits for a session returns by its length, whatever the device's wall clock does meanwhile.
///
/// A clock that is set back may cost the wait its length once more; while the app is suspended it does not run.
final class WaitChecker: SimulationChecker {
  let rule = "a waiting call returns by its length, and tells what is so"

  private struct Wait {
    let call: WaitingCall
    let start: Int64
    /// When it must have returned.
    var end: Int64
    /// Whether the clock says that more time has passed than has.
    var mayEndEarly = false

    var limit: Int64 { call.limit.clampedNanoseconds }
  }

  private struct Host {
    var waits: [Wait] = []
    var suspended: Int64?
    /// Whether the session is at rest, or stopped; nil while nothing is known of it.
    var isIdle: Bool?
    var isHalted: Bool?
  }

  private var hosts: [Host]
  /// When the next call must have returned.
  private var nextEnd = Int64.max
  private var lastTime: Int64 = 0

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    lastTime = time
    if time > nextEnd { return overdue }
    switch event {
    case .event(_, _, let state):
      hosts[device].isIdle = state.isIdle
      hosts[device].isHalted = state.isHalted
    case .launched, .killed: change(device) { $0 = Host() }
    case .waits(let call):
      let end = time + call.limit.clampedNanoseconds
      change(device) { $0.waits.append(Wait(call: call, start: time, end: end)) }
    case .waited(let call, let outcome):
      return ended(call, outcome, device: device, at: time)
    case .clockSet(let amount):
      change(device) { host in
        for place in host.waits.indices {
          if amount < .zero { host.waits[place].end += host.waits[place].limit }
          if amount > .zero { host.waits[place].mayEndEarly = true }
        }
      }
    case .suspended: change(device) { $0.suspended = $0.suspended ?? time }
    case .resumed:
      change(device) { host in
        guard let since = host.suspended else { return }
        host.suspended = nil
        for place in host.waits.indices { host.waits[place].end += time - since }
      }
    default: break
    }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? { lastTime > nextEnd ? overdue : nil }

  private func change(_ device: Int, _ body: (inout Host) -> Void) {
    body(&hosts[device])
    nextEnd = hosts.filter { $0.suspended == nil }.flatMap(\.waits).map(\.end).min() ?? .max
  }

  /// What waits longer than it may.
  private var overdue: String? {
    for (device, host) in hosts.enumerated() where host.suspended == nil {
      for wait in host.waits where lastTime > wait.end {
        let time = Duration.nanoseconds(lastTime - wait.start)
        return "device \(device) has waited \(time) in \(wait.call)"
      }
    }
    return nil
  }

  private func ended(
    _ call: WaitingCall,
    _ outcome: WaitingCall.Outcome,
    device: Int,
    at time: Int64
  ) -> String? {
    let host = hosts[device]
    guard let wait = host.waits.first(where: { $0.call == call }) else {
      return "\(call) on device \(device) has returned, and nobody waits for it"
    }
    change(device) { $0.waits.removeAll { $0.call == call } }
    guard case .idle(let isIdle) = outcome else { return nil }
    if isIdle, host.isIdle == false {
      return "\(call) on device \(device) says that the session is at rest, it is not"
    }
    if !isIdle, host.isHalted == false, !wait.mayEndEarly, time < wait.start + wait.limit {
      let early = Duration.nanoseconds(wait.start + wait.limit - time)
      return "\(call) on device \(device) gave up \(early) too early"
    }
    return nil
  }
}
