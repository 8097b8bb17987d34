public import CloudSyncCore

/// What a cloud can do that not every cloud can; checks of what it cannot do are left out.
public struct ConformanceCapabilities: Sendable {
  /// Whether files of assets are kept; the checks write theirs into this folder.
  public var assetFolder: String?
  /// The bytes of the largest file that the checks save; some seconds' worth of work where code is not optimized.
  public var largestAsset = 300_000
  /// Whether the marks of encrypted fields come back.
  public var keepsEncryptedKeys = true
  /// Whether records have parents.
  public var hasParents = true
  /// Whether records are deleted together with those that they refer to.
  public var deletesWithTargets = true
  /// Whether a repeat of a request is recognized by its write token.
  public var knowsWriteTokens = true
  /// Whether numbers that are not finite are refused.
  public var hasFiniteNumbersOnly = false
  /// Whether a list may be empty before its field has a type.
  public var hasEmptyLists = true

  /// Whether it is told why a zone is gone: that the user has purged it, or that its data were reset.
  public var tellsDeletionReasons = true

  /// Creates the capabilities of a cloud that can do everything but keep files.
  public init() {}

  /// The capabilities of a private database of CloudKit's, as its documentation and the console tell them.
  ///
  /// CloudKit keeps no list that is empty before its field has a type, and no number that is not finite. It does not say
  /// whether it recognizes repeated requests.
  ///
  /// - Parameter folder: Where the checks write the files of their assets.
  /// - Returns: The capabilities.
  public static func cloudKit(assetFolder folder: String) -> Self {
    var capabilities = Self()
    capabilities.assetFolder = folder
    capabilities.knowsWriteTokens = false
    capabilities.hasFiniteNumbersOnly = true
    capabilities.hasEmptyLists = false
    return capabilities
  }
}

/// A cloud to check handlers with: empty, its zone not yet created.
public struct ConformanceCloud: Sendable {
  /// The zone that the check uses; it must not exist.
  public var zoneID: ZoneID
  /// What the cloud can do.
  public var capabilities: ConformanceCapabilities
  /// Makes the handler of a device; called once for each device.
  public var connect: @Sendable (_ device: String) -> any OperationHandler
  /// Makes the handler of a device for another zone of the same account, which must not exist either; nil if there is
  /// only one.
  public var connectToOther:
    (@Sendable (_ device: String, _ zoneID: ZoneID) -> any OperationHandler)?
  /// Deletes the zone from outside, as the user or another app does; nil if that cannot be done.
  public var deleteZone: (@Sendable (_ reason: ZoneDeletionReason) -> Void)?

  /// Creates a cloud from a function that makes handlers.
  public init(
    zoneID: ZoneID,
    capabilities: ConformanceCapabilities = ConformanceCapabilities(),
    deleteZone: (@Sendable (_ reason: ZoneDeletionReason) -> Void)? = nil,
    connect: @escaping @Sendable (_ device: String) -> any OperationHandler
  ) {
    self.zoneID = zoneID
    self.capabilities = capabilities
    self.deleteZone = deleteZone
    self.connect = connect
  }
}
