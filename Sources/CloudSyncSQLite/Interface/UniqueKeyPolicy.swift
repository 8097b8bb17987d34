public import CloudSyncCore

/// What becomes of two rows that may not both be in a table because of a unique key of it.
///
/// Each was made, or edited, where the other was not known. SQLite refuses the second one then, on
/// every device another one. A policy settles it the same way everywhere, whatever comes first. The
/// row whose key was set last is the newer one: of all columns that unique keys of the table look at,
/// the latest edit counts; of two at the same time the row with the smaller record name is newer.
///
/// Every device must have the same policy.
public struct UniqueKeyPolicy: Sendable {
  enum Kind: Sendable {
    case newest, merge
    case rename(@Sendable (UniqueKeyConflict) -> [FieldValue]?)
  }

  let kind: Kind

  /// The newer row keeps the value; the other one is taken out of the table and parked.
  ///
  /// It stays in the cloud and in `cloudsync_pending`, `cloudsync_status` names the row that holds the
  /// value, its edits are sent, and it comes back once the value is free. Where foreign keys are
  /// enforced, rows that refer to it wait beside their tables until then.
  public static let newest = UniqueKeyPolicy(kind: .newest)

  /// The two rows become one: that with the smaller record name.
  ///
  /// Columns are merged as the table's policies say; of a counter the larger number is taken, since
  /// several devices may merge the same rows, and where only one side counts, the newest value.
  /// References of synchronized tables are changed to the row that stays, then the other one is deleted;
  /// ``SyncEngine/unitedRows`` tells of it.
  public static let merge = UniqueKeyPolicy(kind: .merge)

  /// The older row gets another value, which a closure makes from its own.
  ///
  /// The closure must return the same for the same conflict on every device, and not wait. It is asked
  /// up to 100 times, until its value is free; a row for which there is none is parked as with
  /// ``newest``.
  ///
  /// - Parameter rename: Returns the new values of the conflict's columns, in their order.
  /// - Returns: The policy.
  public static func rename(
    _ rename: @escaping @Sendable (UniqueKeyConflict) -> [FieldValue]?
  ) -> UniqueKeyPolicy {
    UniqueKeyPolicy(kind: .rename(rename))
  }
}

/// A row that has become one with another row.
///
/// Its table settles conflicts of unique keys with ``UniqueKeyPolicy/merge``, or its key contains one that refers to such a
/// row. What the two had in columns that differed, the policies of the columns have chosen from.
public struct UnitedRow: Sendable, Hashable {
  /// The table's name.
  public let table: String
  /// The values of the key under which it is gone, in the order of the key's columns.
  public let key: [FieldValue]
  /// The values of the key of the row that stays.
  public let keptKey: [FieldValue]
}

extension UniqueKeyPolicy {
  /// Whether two rows become one.
  package var isMerge: Bool { if case .merge = kind { true } else { false } }
}

extension UniqueKeyPolicy {
  /// What the app's closure says of a conflict; nil if it has none, or no answer.
  package func renamed(_ conflict: UniqueKeyConflict) -> [FieldValue]? {
    if case .rename(let rename) = kind { rename(conflict) } else { nil }
  }
}

/// A row whose values of a unique key a newer row holds too.
public struct UniqueKeyConflict: Sendable, Hashable {
  /// The table's name.
  public let table: String
  /// The name of the older row's record.
  public let recordName: String
  /// The columns of the key; for an index on expressions, or on some rows only, all that it looks at.
  public let columns: [String]
  /// The older row's values in these columns; `FieldValue.null` where there is none.
  public let values: [FieldValue]
  /// 1 at first, and one more each time that the value returned is taken as well.
  public let attempt: Int

  package init(
    table: String,
    recordName: String,
    columns: [String],
    values: [FieldValue],
    attempt: Int
  ) {
    self.table = table
    self.recordName = recordName
    self.columns = columns
    self.values = values
    self.attempt = attempt
  }
}
