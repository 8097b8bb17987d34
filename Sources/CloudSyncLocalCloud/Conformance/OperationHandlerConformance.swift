import CloudSyncCore

/// What every operation handler must do, as checks to run in a handler's own tests.
///
/// The checks know nothing of a test library: each returns sentences about what is wrong, none when
/// all is well.
///
/// ```swift
/// for check in OperationHandlerConformance.all {
///   let cloud = ConformanceCloud(zoneID: zone) { device in MyHandler(server: server, device) }
///   for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
/// }
/// ```
public enum OperationHandlerConformance: Sendable {
  /// One thing that a handler must do.
  public struct Check: Sendable, CustomStringConvertible {
    /// The promise that is checked, as a sentence.
    public let description: String
    private let body: @Sendable (ConformanceProbe) async -> Void

    init(_ description: String, _ body: @escaping @Sendable (ConformanceProbe) async -> Void) {
      self.description = description
      self.body = body
    }

    /// Runs the check.
    ///
    /// - Parameter cloud: A cloud that is empty and used for nothing else.
    /// - Returns: What is wrong, in sentences.
    public func run(_ cloud: ConformanceCloud) async -> [String] {
      let probe = ConformanceProbe(cloud)
      await body(probe)
      return probe.failures
    }
  }

  /// All checks.
  public static let all: [Check] = zones + saves + fetches + values + assets + crowds + strangers
}
