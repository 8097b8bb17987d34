import CloudSyncCore

/// Nothing is sent before the account is known, nor while it is away or another's.
final class AccountChecker: SimulationChecker {
  let rule = "nothing is sent for an account that is away or another's"

  private enum Known {
    case nothing
    case good
    case bad(String)
  }

  private let owner: AccountIdentity
  private var hosts: [Known]

  init(devices: Int, owner: AccountIdentity) {
    self.owner = owner
    hosts = Array(repeating: .nothing, count: devices)
  }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .launched: hosts[device] = .nothing
    case .event(_, .accountStatusChanged(let status, let identity)?, _):
      hosts[device] =
        if status != .available {
          .bad("\(status)")
        } else if identity != owner {
          .bad("another's")
        } else {
          .good
        }
    case .called(let work, _):
      switch hosts[device] {
      case .good: break
      case .nothing: return "device \(device) sent a \(work.mode) before it knew the account"
      case .bad(let text): return "device \(device) sent a \(work.mode), the account is \(text)"
      }
    default: break
    }
    return nil
  }
}
