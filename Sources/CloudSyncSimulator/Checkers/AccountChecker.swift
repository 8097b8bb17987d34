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
  private var seats: [Known]

  init(devices: Int, owner: AccountIdentity) {
    self.owner = owner
    seats = Array(repeating: .nothing, count: devices)
  }

  func take(_ moment: SimulationMoment, on device: Int, at time: Int64) -> String? {
    switch moment {
    case .launched: seats[device] = .nothing
    case .event(_, .accountStatusChanged(let status, let identity)?, _):
      seats[device] =
        if status != .available {
          .bad("\(status)")
        } else if identity != owner {
          .bad("another's")
        } else {
          .good
        }
    case .called(let work, _):
      switch seats[device] {
      case .good: break
      case .nothing: return "device \(device) sent a \(work.mode) before it knew the account"
      case .bad(let text): return "device \(device) sent a \(work.mode), the account is \(text)"
      }
    default: break
    }
    return nil
  }
}
