import CloudSyncCore

/// What every operation handler must do, as checks to run in a handler's own tests.
///
/// The checks know nothing of a test library: each returns sentences about what is wrong, none when
/// all is well.
///
/// ```swift
/// for check in OperationHandlerConformance.all {
///   let cloud = ConformanceCloud(zoneID: zone) { device in MyHandler(server: server, device) }
///   if let reason = check.reasonLeftOut(for: cloud) { print("\(check): left out, \(reason)") }
///   for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
/// }
/// ```
public enum OperationHandlerConformance: Sendable {
  /// One thing that a handler must do.
  public struct Check: Sendable, CustomStringConvertible {
    /// The promise that is checked, as a sentence.
    public let description: String
    private let need: ConformanceNeed?
    private let body: @Sendable (ConformanceProbe) async -> Void

    init(
      _ description: String,
      needs need: ConformanceNeed? = nil,
      _ body: @escaping @Sendable (ConformanceProbe) async -> Void
    ) {
      self.description = description
      self.need = need
      self.body = body
    }

    /// Why the check is left out for a cloud, as a sentence; nil if it runs.
    public func reasonLeftOut(for cloud: ConformanceCloud) -> String? {
      guard let need, !need.isMet(by: cloud) else { return nil }
      return need.rawValue
    }

    /// Runs the check.
    ///
    /// - Parameter cloud: A cloud that is empty and used for nothing else.
    /// - Returns: What is wrong, in sentences; none if the check is left out, which ``reasonLeftOut(for:)`` tells.
    public func run(_ cloud: ConformanceCloud) async -> [String] {
      guard reasonLeftOut(for: cloud) == nil else { return [] }
      let probe = ConformanceProbe(cloud)
      await body(probe)
      return probe.failures
    }
  }

  /// All checks.
  public static let all: [Check] = zones + saves + fetches + values + assets + crowds + strangers
}

/// What a check needs that not every cloud has.
enum ConformanceNeed: String, Sendable {
  case files = "for capabilities.assetFolder is nil"
  case encryptedKeys = "for capabilities.keepsEncryptedKeys is false"
  case parents = "for capabilities.hasParents is false"
  case deletionWithTargets = "for capabilities.deletesWithTargets is false"
  case zoneDeletion = "for deleteZone is nil"
  case otherZone = "for connectToOther is nil"

  func isMet(by cloud: ConformanceCloud) -> Bool {
    switch self {
    case .files: cloud.capabilities.assetFolder != nil
    case .encryptedKeys: cloud.capabilities.keepsEncryptedKeys
    case .parents: cloud.capabilities.hasParents
    case .deletionWithTargets: cloud.capabilities.deletesWithTargets
    case .zoneDeletion: cloud.deleteZone != nil
    case .otherZone: cloud.connectToOther != nil
    }
  }
}
