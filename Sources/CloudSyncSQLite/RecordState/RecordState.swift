import CloudSyncCore

/// What an engine knows of one row: a pure machine, whose only way to change is ``reduce(_:rules:)``.
///
/// The row's own state is joined with whatever the cloud has, so a lost answer, a repeated request, a restart,
/// pages and answers in any order, an expired token and a lost zone need no case of their own. What is on its
/// way is not part of it: after a crash such a row is simply dirty.
struct RecordState: Sendable, Hashable {
  /// The row as it is to be here: the join of all that is known of it; nil if nothing is.
  var row: RecordVersion?
  /// What the cloud has of it.
  var cloud = CloudPresence.absent
  /// Versions that the row was made from, since it was clean last: one of them in the cloud is no conflict.
  var ancestors: [Ancestor] = []
  /// Of a row with another key than it had: what the cloud was known to have of it under the former one, of the columns that
  /// a policy looks at.
  var formerBase: [VersionedColumn] = []
  /// Why the table does not have the row as it is to be.
  var placement = Placement.inTable
  /// Why the row is not sent now.
  var hold: Hold?
  /// Why its edits stay on this device; nil if they do not.
  var filtering: Filtering?
  /// The row as it was before it was deleted elsewhere: as long as its table has it, it may come back, and what is edited
  /// of it goes along with one that has got another key.
  var former: RecordVersion?
  /// Where edits win: what the cloud has in columns that the table has dropped.
  ///
  /// It is not known here any more, but whoever deletes the row here has seen it. It is no part of the row's clock: there
  /// it would pass for seen by whoever has deleted the row elsewhere.
  var forgotten: [SeenTime] = []
  /// Rows whose key another one has got, each as it was last: where they go on the record may tell that has not come yet.
  var endedLives: [RecordVersion] = []
  /// How many conflicts have met its saves in a row.
  var conflicts = 0

  /// A row of which nothing is known.
  init() {}

  /// What the cloud is known to have.
  var known: CloudRecord? {
    if case .present(let record) = cloud { record } else { nil }
  }

  /// Whether there is to be no row: where edits win, that of a column which the table has dropped keeps it as well, unless
  /// that has gone along to another key.
  var isDeleted: Bool {
    guard let clock = row?.clock else { return true }
    if !clock.isDeleted { return false }
    return !forgotten.contains { clock.isUnseen($0.column, at: $0.time) }
      || known.map { clock.move(of: $0.clock) != nil } ?? false
  }

  /// Whether the cloud does not have the row as it is here.
  var isDirty: Bool {
    guard let row else { return false }
    guard let record = known else { return true }
    return row.clock != record.clock || !record.differing.isEmpty
  }

  /// Whether nothing is left to be done, so that little has to be remembered.
  var isSettled: Bool { isInStep && endedLives.isEmpty }

  /// Whether the table and the cloud have the same: of what a row was before, more may be remembered.
  var isInStep: Bool { !isDirty && placement == .inTable && hold == nil }

  /// Whether it may be sent, at a time in milliseconds since 1970.
  func isSendable(at now: Int64) -> Bool {
    guard isDirty, filtering == nil else { return false }
    if let record = known, record.clock.purge?.isValid(at: now) == true {
      return false
    }
    switch hold {
    case nil: return true
    case .nextFetch, .removal: return false
    case .refusal(let refusal): return refusal.next.map { $0 <= now } ?? false
    }
  }
}

/// What the cloud is known to have of a record.
enum CloudPresence: Sendable, Hashable {
  /// Nothing, as far as is known.
  case absent
  case present(CloudRecord)
}

/// The last state that the cloud is known to have had of a record.
struct CloudRecord: Sendable, Hashable {
  var tag: String
  var clock: RecordClock
  /// The values of the columns that a policy looks at, by name.
  var values: [VersionedColumn] = []
  /// The columns that are of the same time here and there, and have other values here, by name.
  var differing: [String] = []
  /// The names of the record's fields beside its columns' own.
  ///
  /// They are of values that lie aside, of assets, and foreign ones. A save that moves or ends such a value has to
  /// clear them; they are no part of what is compared.
  var aside: [String] = []

  /// Whether a version that was made from it has columns of other times, or other values.
  func isEdited(in other: RecordClock) -> Bool {
    other.columns != clock.columns || other.shares != clock.shares || !differing.isEmpty
  }
}

/// A version of a column, or a share of a counter, that the row was made from.
struct Ancestor: Sendable, Hashable {
  var column: String
  /// The writer of a counter's share; nil for the column itself.
  var writer: Int64?
  var time: HybridTime
}

/// Where a row is that is not in its table as it is to be; its content is then kept by the engine.
enum Placement: Sendable, Hashable {
  case inTable
  /// A row that it refers to is not there.
  case awaitsParent(String)
  /// SQLite refuses it, with this code and reason.
  case violates(code: Int64, reason: String)
  /// Another row, with a record of this name, has a value of a unique key that it is to have.
  case heldBy(String, reason: String)
  /// It is deleted, but others refer to it: settled at the end of the fetch.
  case deletionDeferred
}

/// Why a row that is dirty is not sent.
enum Hold: Sendable, Hashable {
  /// The next fetch has to tell first. The tag is of the record that the cloud said not to have.
  case nextFetch(missing: String?)
  case refusal(CloudRefusal)
  /// A full storage takes no tombstone: the record itself is to be deleted, once a fetch has told what others have
  /// made of it.
  case removal(isDue: Bool)
}

/// Why the edits of a row stay on this device, although nobody refuses them.
struct Filtering: Sendable, Hashable {
  /// The record that it needs in the cloud, and that stays on this device too; nil if the row itself does not match the
  /// condition of the rows that are sent.
  var parent: String?
  /// Whether no request can have had it: it has stayed here since it was inserted.
  var isUnsent = false
}

/// The cloud's refusal of a row.
struct CloudRefusal: Sendable, Hashable {
  var code: Int64
  var reason: String
  /// How often in a row.
  var count: Int
  /// When it may be sent again, in milliseconds since 1970; nil if only an edit, the app or another
  /// schema can help.
  var next: Int64?
}
