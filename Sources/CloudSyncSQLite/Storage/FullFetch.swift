import CloudSyncSQLiteSupport

/// What becomes of rows that a fetch of everything has not told about.
enum FullFetch: Int64, Sendable {
  /// They are gone from the cloud, and go here unless they are edited.
  case sweeps = 1
  /// They are made in the cloud again.
  case uploads
  /// They go, and rows that were changed unseen become what the cloud has.
  case rebuilds
  /// It is the first one: nothing is known that it might not tell about.
  case adopts
  /// They may be of a zone before this one, since it is not sure which zone is known: they are made again, too.
  case revives
  /// So they may, and the zone says that the rows of the one before were erased on purpose: they go.
  case erases
  /// They are made in the cloud again, and rows that are missing here though nobody has deleted them come back.
  case restores

  /// Whether it stays what it is when the fetch begins again: the zone that it has shown is known by then.
  var isKept: Bool { self == .uploads || self == .revives }

  /// Whether an app has asked for it, for more than to hear what the cloud has.
  var hasPurpose: Bool { self == .restores || self == .rebuilds }
}

extension FullFetch {
  /// What is stored of it; nil if that is nothing known.
  init?(_ value: SQLiteValue) {
    guard case .integer(let number) = value else { return nil }
    self.init(rawValue: number)
  }
}
