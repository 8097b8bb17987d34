/// How far a row and its record in the cloud have come together.
public enum RecordStatus: Sendable, Hashable {
  /// The cloud has what the row has, as far as is known.
  case clean
  /// It has an edit that the cloud has not got.
  case dirty
  /// Its edit is on its way to the cloud; the view `cloudsync_status` says `dirty`.
  case inFlight
  /// It has an edit that stays on this device: it does not match its table's row filter, or refers to such a row.
  case local
  /// What the cloud has of it cannot be stored before another record is here.
  case waiting(recordName: String)
  /// Its edit, or what the cloud has of it, was refused; ``SyncEngine/retryParked(in:keys:)`` tries again.
  ///
  /// With the code 1555 (`SQLITE_CONSTRAINT_PRIMARYKEY`) it is a row that is in no table, since another one was given its
  /// key on another device and none of its former keys is free: it comes back when that one gets another key. The view
  /// `cloudsync_status` and ``SyncMetadata`` list it; to try it again changes nothing.
  case parked(code: Int, reason: String)
}

extension RecordStatus {
  /// Its name, as in the view `cloudsync_status`, which knows no `inFlight`.
  public var name: String {
    switch self {
    case .clean: "clean"
    case .dirty: "dirty"
    case .inFlight: "inFlight"
    case .local: "local"
    case .waiting: "waiting"
    case .parked: "parked"
    }
  }
}
