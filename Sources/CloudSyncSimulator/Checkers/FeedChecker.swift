import CloudSyncCore

/// A device's position in the feed never goes back, unless the feed itself begins anew, or pages were acknowledged
/// and not stored yet when the session ended.
final class FeedChecker: SimulationChecker {
  let rule = "the position in the feed is monotone"

  private struct Host {
    /// The place of each token in the order in which the device was given them.
    var places: [ChangeToken: Int] = [:]
    var given = 0
    var position = 0
    var page: UInt64 = 0
    /// Whether the next session goes on from what was stored of the last one.
    var goesOn = false
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .answered(.fetch, _, .success(.fetch(let response))):
      // A feed that is read anew may give the same tokens in other pages.
      guard let token = response.changeToken else { break }
      hosts[device].given += 1
      hosts[device].places[token] = hosts[device].given
    case .called(.fetch(let operation), _):
      guard operation.isLookup == false else { break }
      guard let token = operation.changeToken else {
        hosts[device].position = 0
        break
      }
      guard let place = hosts[device].places[token] else {
        return "device \(device) fetches from a token that it was never given"
      }
      if place < hosts[device].position {
        return "device \(device) fetches from a place that it has been beyond"
      }
      hosts[device].position = place
    case .killed(let archive, _, _): hosts[device].goesOn = archive != nil
    case .launched:
      // Whoever stores pages by itself may do so after it has acknowledged them.
      if !hosts[device].goesOn { hosts[device].position = 0 }
      (hosts[device].page, hosts[device].goesOn) = (0, false)
    case .copied(let source):
      // What the session that is ended for that still has to tell is its own.
      let page = hosts[device].page
      hosts[device] = hosts[source]
      hosts[device].page = page
      // The file may be behind the session that has written it.
      hosts[device].position = 0
    case .page(let operation, let page):
      // A look-up of nothing is answered without a page.
      if operation.isLookup, operation.recordIDs.isEmpty { break }
      // One page may answer several fetches.
      if page.page.number < hosts[device].page {
        return "device \(device) was given page \(page.page.number) after \(hosts[device].page)"
      }
      hosts[device].page = page.page.number
    default: break
    }
    return nil
  }
}
