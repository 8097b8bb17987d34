/// What a request is about, for metrics and logs: one of a few names, whatever a client has written.
enum RequestKind: Int, Sendable, CaseIterable {
  case modifyRecords, lookUpRecords, zoneChanges, databaseChanges, zones, subscriptions, caller
  case tokens, assets, courier, other

  init(path: String) {
    if path.hasPrefix("/courier/") {
      self = .courier
    } else if path.hasPrefix("/assets/") {
      self = .assets
    } else {
      let end = path.prefix { $0 != "?" }.split(separator: "/").suffix(2).joined(separator: "/")
      self =
        switch end {
        case "records/modify": .modifyRecords
        case "records/lookup": .lookUpRecords
        case "changes/zone": .zoneChanges
        case "changes/database": .databaseChanges
        case "zones/list", "zones/lookup", "zones/modify": .zones
        case "subscriptions/modify": .subscriptions
        case "users/caller": .caller
        case "tokens/create", "assets/upload": .tokens
        default: .other
        }
    }
  }

  var name: String {
    switch self {
    case .modifyRecords: "records_modify"
    case .lookUpRecords: "records_lookup"
    case .zoneChanges: "changes_zone"
    case .databaseChanges: "changes_database"
    case .zones: "zones"
    case .subscriptions: "subscriptions"
    case .caller: "users_caller"
    case .tokens: "addresses"
    case .assets: "assets"
    case .courier: "courier"
    case .other: "other"
    }
  }
}
