import CloudSyncCore

/// A device's position in the feed never goes back, unless the feed itself begins anew.
final class FeedChecker: SimulationChecker {
  let rule = "the position in the feed is monotone"

  private struct Seat {
    /// The place of each token in the order in which the device was given them.
    var places: [ChangeToken: Int] = [:]
    var position = 0
    var page: UInt64 = 0
  }

  private var seats: [Seat]

  init(devices: Int) { seats = Array(repeating: Seat(), count: devices) }

  func take(_ moment: SimulationMoment, on device: Int, at time: Int64) -> String? {
    switch moment {
    case .answered(.fetch, _, .success(.fetch(let response))):
      guard let token = response.changeToken, seats[device].places[token] == nil else { break }
      seats[device].places[token] = seats[device].places.count + 1
    case .called(.fetch(let operation), _):
      guard operation.recordIDs.isEmpty else { break }
      guard let token = operation.changeToken else {
        seats[device].position = 0
        break
      }
      guard let place = seats[device].places[token] else {
        return "device \(device) fetches from a token that it was never given"
      }
      if place < seats[device].position {
        return "device \(device) fetches from a place that it has been beyond"
      }
      seats[device].position = place
    case .launched: seats[device].page = 0
    case .page(_, let page):
      // One page may answer several fetches.
      if page.page.number < seats[device].page {
        return "device \(device) was given page \(page.page.number) after \(seats[device].page)"
      }
      seats[device].page = page.page.number
    default: break
    }
    return nil
  }
}
