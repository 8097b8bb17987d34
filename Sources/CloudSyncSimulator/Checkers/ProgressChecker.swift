import CloudSyncCore

/// Progress is of the present run of work: it never goes back before the session has no work, and counts all of it then.
final class ProgressChecker: SimulationChecker {
  let rule = "progress goes from idle to idle, and never back"

  private struct Host {
    var last = SyncProgress()
    var hadWork = false
    var told: SyncProgress?
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .launched(let session):
      hosts[device] = Host(last: session.state.progress, hadWork: session.state.hasWorkQueued)
    case .event(let record, _, let state):
      let isBeginning = if case .doWork = record.event { !hosts[device].hadWork } else { false }
      if isBeginning, !state.progress.isNew {
        return "device \(device) begins to work and counts on from \(state.progress)"
      }
      return check(state, device: device)
    case .progress(let progress): hosts[device].told = progress
    default: break
    }
    return nil
  }

  private func check(_ state: SyncState, device: Int) -> String? {
    let (present, last, hadWork) = (state.progress, hosts[device].last, hosts[device].hadWork)
    hosts[device].last = present
    hosts[device].hadWork = state.hasWorkQueued
    if present.waiting < 0 || present.done < 0 || present.notDone < 0 {
      return "device \(device) has done more than was submitted: \(present)"
    }
    if hadWork, !present.isAsFar(as: last) {
      return "device \(device) went back from \(last) to \(present) although it had work"
    }
    if !state.hasWorkQueued, present.waiting > 0 || present.isMoreToFetch {
      return "device \(device) has no work, and its progress says \(present)"
    }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    for (device, host) in end.devices.enumerated() {
      guard let state = host.state, let told = hosts[device].told, told != state.progress else {
        continue
      }
      return "device \(device) was told last of \(told), and has come to \(state.progress)"
    }
    return nil
  }
}

extension SyncProgress {
  fileprivate var isNew: Bool {
    done == 0 && notDone == 0 && fetchedPages == 0 && fetchedRecords == 0
  }

  fileprivate func isAsFar(as last: SyncProgress) -> Bool {
    submitted >= last.submitted && done >= last.done && notDone >= last.notDone
      && fetchedPages >= last.fetchedPages && fetchedRecords >= last.fetchedRecords
  }
}
