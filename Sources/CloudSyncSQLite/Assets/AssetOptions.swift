public import CloudSyncCore

/// How large BLOBs travel: in files beside their records.
public struct AssetOptions: Sendable {
  /// A folder of the engine's own for files that are on their way; it is created when it is needed.
  public var folder: String
  /// The size in bytes over which a BLOB becomes an asset.
  ///
  /// A record has room for a million bytes without its assets.
  public var threshold = 50_000
  /// Reads the file of an asset that has come; nil reads the file at the asset's location.
  public var read: (@Sendable (Asset) throws -> [UInt8])?

  /// Creates options.
  ///
  /// - Parameters:
  ///   - folder: The folder for files that are on their way.
  ///   - threshold: The size in bytes over which a BLOB becomes an asset.
  public init(folder: String, threshold: Int = 50_000) {
    self.folder = folder
    self.threshold = threshold
  }
}
