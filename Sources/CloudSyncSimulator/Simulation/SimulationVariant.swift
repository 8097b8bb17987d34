import CloudSyncCore
import CloudSyncLocalCloud

/// How the cloud and the apps of one simulation are, within what is allowed: drawn from the seed.
struct SimulationVariant: Sendable {
  var cloud = LocalCloudOptions()
  var configuration = SyncConfiguration()
  /// Whether callbacks run as jobs of their own.
  var callsBackLater = false
  /// Whether sessions ask about the account.
  var hasProvider = true
  /// Whether another session of each app shares the gate of the device's.
  var hasSiblings = false
  var resolver = ConflictResolver.fieldwise(default: .client)

  init(_ random: SeededRandom) {
    var random = random
    cloud.seed = random.next()
    cloud.pageSize = random.pick([3, 20, 200])
    let items = random.pick([400, 400, 30, 7])
    cloud.announcedLimits = RequestLimits(items: items)
    cloud.isAtomic = random.chance(3, in: 4)
    cloud.partialFailureShape = random.chance(1, in: 2) ? .error : .response
    cloud.missingDeletion = random.chance(3, in: 4) ? .success : .unknownItem
    cloud.knowsWriteTokens = random.chance(7, in: 8)
    cloud.emptyPages = random.chance(1, in: 6) ? 1 : 0
    configuration.acknowledgesPages = random.chance(1, in: 3)
    callsBackLater = random.chance(1, in: 2)
    hasProvider = random.chance(3, in: 4)
    if random.chance(1, in: 3) { resolver = .client }
    hasSiblings = random.chance(1, in: 4)
    if random.chance(1, in: 6) { configuration.refusedItems = .handBack }
  }
}
