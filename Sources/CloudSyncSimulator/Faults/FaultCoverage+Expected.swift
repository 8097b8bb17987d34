import CloudSyncCore

extension FaultCoverage {
  /// What a campaign with a plan must have tried; what is not in the plan is not expected.
  ///
  /// Requests that change records and that fetch them meet every fault of theirs, with every response
  /// that it has; creations meet the common ones.
  public static func expected(for plan: FaultPlan) -> [Cell] {
    var cells: [Cell] = []
    for (point, codes) in answers {
      let modes: [OperationMode] =
        switch point {
        case .limitExceeded, .assetMissing, .quotaFull, .recordRefused, .recordUnanswered,
          .recordDenied:
          [.modify]
        case .tokenExpired: [.fetch]
        case .responseLost, .duplicated, .throttle, .zoneBusy, .offline: OperationMode.allCases
        default: [.modify, .fetch]
        }
      guard plan[point].hits > 0 else { continue }
      for mode in modes {
        for code in codes { cells.append(Cell(mode: mode, code: code, point: point)) }
      }
    }
    for (mode, code) in withoutFault { cells.append(Cell(mode: mode, code: code, point: nil)) }
    return cells
  }

  /// What was expected and not tried, in words.
  ///
  /// - Parameters:
  ///   - plan: The plan of the campaign.
  ///   - hasStorage: Whether the devices' storage layers draw faults too; they keep no journal whose end could be torn.
  /// - Returns: The cells and the faults; none if all is well.
  public func missing(for plan: FaultPlan, hasStorage: Bool = false) -> [String] {
    let cells = Self.expected(for: plan).filter { self[$0] == 0 }.map { "\($0)" }
    let points = plan.points.filter { point in
      self[point] == 0 && (hasStorage ? point != .dirtyTail : !point.isOfStorage)
    }
    return cells + points.map(\.rawValue)
  }

  private static let answers: [(FaultPoint, [SyncError.Code?])] = [
    (.requestLost, [.networkFailure, .networkUnavailable, .serverResponseLost]),
    (.responseLost, [.serverResponseLost]), (.duplicated, [nil]), (.late, [nil]),
    (.outOfOrder, [nil]), (.throttle, [.requestRateLimited, .serviceUnavailable]),
    (.throttleSilently, [.requestRateLimited]), (.zoneBusy, [.zoneBusy]),
    (.serviceUnavailable, [.serviceUnavailable]), (.limitExceeded, [.limitExceeded]),
    (.assetMissing, [.assetFileNotFound]), (.refusal, [.internalError]),
    (.tokenExpired, [.changeTokenExpired]), (.zoneDeleted, [.zoneNotFound]),
    (.zonePurged, [.userDeletedZone]), (.zoneReset, [.zoneNotFound]),
    (.signedOut, [.notAuthenticated]), (.accountSwitched, [.notAuthenticated]),
    (.accountUnavailable, [.accountTemporarilyUnavailable]), (.quotaFull, [.quotaExceeded]),
    (.offline, [.networkUnavailable]), (.recordUnanswered, [.serverResponseLost]),
    (.recordRefused, FaultPoint.passingCodes), (.recordDenied, [.unknownItem]),
  ]

  private static let withoutFault: [(OperationMode, SyncError.Code?)] = [
    (.createZone, nil), (.createSubscription, nil), (.modify, nil), (.fetch, nil),
    (.modify, .serverRecordChanged), (.modify, .unknownItem), (.fetch, .unknownItem),
  ]
}
