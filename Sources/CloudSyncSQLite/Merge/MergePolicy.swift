public import CloudSyncCore

/// How a column is merged that this device and another have both changed.
///
/// What only one side has changed is taken as it is, whatever the policy. A policy that does not
/// fit the values falls back to ``newest``. Every device must have the same policies, or rows will
/// differ.
public struct MergePolicy: Sendable {
  enum Kind: Sendable {
    case newest, client, server, maximum, counter, setUnion
    case custom(@Sendable (ColumnConflict) -> FieldValue)
  }

  let kind: Kind

  /// The value that was set last, by the time of the edit, not of the synchronization.
  ///
  /// Of two values of the same time one is chosen by its bytes, the same on every device.
  public static let newest = MergePolicy(kind: .newest)
  /// The value of the device that merges: of two edits, the one that comes to the cloud last.
  public static let client = MergePolicy(kind: .client)
  /// The cloud's value: of two edits, the one that comes to the cloud first.
  public static let server = MergePolicy(kind: .server)
  /// The larger value, in SQLite's order of NULL, numbers, text by its bytes, and BLOBs.
  public static let maximum = MergePolicy(kind: .maximum)
  /// The number with everything that any device has added to it or subtracted from it.
  ///
  /// Whole numbers stop at the ends of their range, NULL counts as zero, and so does the number of
  /// a row that was created on both sides.
  public static let counter = MergePolicy(kind: .counter)
  /// The cloud's set, with what was added here and without what was removed here.
  ///
  /// A set is TEXT that holds a JSON array of strings, numbers, truth values and nulls, or NULL for
  /// none. A merged set is written in order and without spaces.
  public static let setUnion = MergePolicy(kind: .setUnion)

  /// A function of the app.
  ///
  /// It must return the same for the same values on every device, and not wait. A result that no
  /// column can hold, such as a timestamp, counts as ``newest``.
  public static func custom(
    _ merge: @escaping @Sendable (ColumnConflict) -> FieldValue
  ) -> MergePolicy {
    MergePolicy(kind: .custom(merge))
  }
}

/// A column that this device and another have both changed.
///
/// Values are `FieldValue.null` for NULL, and an integer, double, text, data or, for a large BLOB, an
/// asset. TEXT that is no UTF-8, or holds a NUL, is a list of one piece of data.
public struct ColumnConflict: Sendable, Hashable {
  /// The column's name.
  public let column: String
  /// The value that both sides started from; nil if there was none.
  public let ancestor: FieldValue?
  /// This device's value.
  public let local: FieldValue
  /// When this device's value was set.
  public let localTime: HybridTime
  /// The cloud's value.
  public let server: FieldValue
  /// When the cloud's value was set.
  public let serverTime: HybridTime

  package init(
    column: String,
    ancestor: FieldValue?,
    local: FieldValue,
    localTime: HybridTime,
    server: FieldValue,
    serverTime: HybridTime
  ) {
    self.column = column
    self.ancestor = ancestor
    self.local = local
    self.localTime = localTime
    self.server = server
    self.serverTime = serverTime
  }

  /// The value that was set last, as ``MergePolicy/newest`` takes it.
  public var newest: FieldValue { localIsNewer ? local : server }

  var localIsNewer: Bool {
    localTime == serverTime
      ? ValueContent.precedes(server, local) : localTime > serverTime
  }
}
