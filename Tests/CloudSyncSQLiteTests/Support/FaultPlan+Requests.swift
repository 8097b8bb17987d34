import CloudSyncSimulator

extension FaultPlan {
  /// What goes wrong with requests, and nothing that happens to the cloud, to devices or accounts.
  static let ofRequests: FaultPlan = {
    let others: [FaultPoint] = [
      .zoneDeleted, .zonePurged, .zoneReset, .storeRestored, .signedOut, .accountSwitched,
      .accountUnavailable,
      .quotaFull, .clockSkew, .killed, .stalled, .offline, .assetMissing, .never,
    ]
    return others.reduce(FaultPlan.default) { $0.without($1) }
  }()
}
