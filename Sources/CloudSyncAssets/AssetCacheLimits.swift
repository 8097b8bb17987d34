/// How much an ``AssetCache`` may hold, and for how long.
public struct AssetCacheLimits: Sendable, Hashable {
  /// How many bytes all files together may have.
  public var byteCount: Int64
  /// How long a file stays after it was last used.
  public var age: Duration

  /// Creates limits: by default a gigabyte and seven days.
  public init(byteCount: Int64 = 1_000_000_000, age: Duration = .seconds(7 * 86_400)) {
    self.byteCount = byteCount
    self.age = age
  }

  /// The age in seconds, as dates count.
  var seconds: Double { Double(age.components.seconds) }
}

/// Why a file could not be taken into an ``AssetCache``.
public struct AssetCacheError: Error, Sendable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// The cache's folder.
  public let folder: String
  /// What went wrong, in the system's words.
  public let reason: String

  /// The file, the folder and the reason in one line.
  public var description: String { "\(path) cannot be copied into \(folder): \(reason)" }
}
