import CloudSyncCore
import CloudSyncLocalCloud

/// What a device may ask about the zones of its account.
///
/// The private database has them all: nobody shares any yet, and the public one has none.
struct ServedZones: Sendable {
  let cloud: LocalCloud
  let access: ServiceAccess
  let scope: DatabaseScope

  /// Answers a request about zones as such, or about the account.
  func response(
    to request: HTTPRequest,
    at endpoint: WireEndpoint,
    limits: ServiceLimits
  ) throws(WireError) -> HTTPResponse {
    if endpoint == .caller {
      return EndpointDesk.success(WireCaller.body(name: access.account.value))
    }
    if scope == .public {
      let error = SyncError(.badDatabase, "the public database has no zones to synchronize")
      return ServiceRefusal(error).response
    }
    switch endpoint {
    case .databaseChanges: return try databaseChanges(request)
    case .lookUpZones:
      let names = try WireZones.names(reading: request.body, scope: scope, limit: limits.zones)
      return answer { known in
        names.map { zoneID in
          let isKnown = known.contains(zoneID)
          return (zoneID, isKnown ? nil : SyncError(.zoneNotFound, "there is no such zone"))
        }
      }
    default: return answer { known in known.map { ($0, nil) } }
    }
  }

  private func answer(
    _ zones: ([ZoneID]) -> [(zoneID: ZoneID, error: SyncError?)]
  ) -> HTTPResponse {
    do throws(LocalCloudStoreError) {
      let known = scope == .private ? try cloud.zones(account: access.account) : []
      return EndpointDesk.success(WireZones.body(of: zones(known)))
    } catch { return ServiceRefusal(error.syncError).response }
  }

  /// Deletes a zone of the account; returns why it is not deleted.
  func delete(_ zoneID: ZoneID) -> SyncError? {
    do throws(LocalCloudStoreError) {
      let isDeleted = try cloud.deleteZone(zoneID, account: access.account)
      return isDeleted ? nil : SyncError(.zoneNotFound, "there is no such zone")
    } catch { return error.syncError }
  }

  private func databaseChanges(_ request: HTTPRequest) throws(WireError) -> HTTPResponse {
    let text = try WireDatabaseChanges.syncToken(reading: request.body)
    var token: ChangeToken?
    if let text {
      guard let known = WireToken.token(text) else {
        return ServiceRefusal(.foreignToken).response
      }
      token = known
    }
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    let connection = cloud.connect(device: access.device, account: access.account, zoneID: zoneID)
    do throws(SyncError) {
      let changes = try connection.fetchDatabaseChanges(since: token)
      let isPrivate = scope == .private
      let body = WireDatabaseChanges(
        changed: isPrivate ? changes.changedZoneIDs : [],
        deleted: isPrivate ? changes.deletedZones.map(\.zoneID) : [],
        syncToken: WireToken.text(changes.changeToken),
        hasMore: isPrivate && changes.hasMore
      )
      return EndpointDesk.success(body.body)
    } catch { return ServiceRefusal(error).response }
  }
}
