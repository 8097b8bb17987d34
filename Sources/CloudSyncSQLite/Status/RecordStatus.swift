/// How far a row and its record in the cloud have come together.
public enum RecordStatus: Sendable, Hashable {
  /// The cloud has what the row has, as far as is known.
  case clean
  /// It has an edit that the cloud has not got.
  case dirty
  /// Its edit is on its way to the cloud.
  case inFlight
  /// What the cloud has of it cannot be stored before another record is here.
  case waiting(recordName: String)
  /// Its edit, or what the cloud has of it, was refused; ``SyncEngine/retryParked(in:keys:)`` tries again.
  case parked(code: Int, reason: String)
}

extension RecordStatus {
  /// The name by which the view `cloudsync_status` calls it.
  public var name: String {
    switch self {
    case .clean: "clean"
    case .dirty: "dirty"
    case .inFlight: "inFlight"
    case .waiting: "waiting"
    case .parked: "parked"
    }
  }

  /// What is known of a row, but for edits that the triggers have captured and nobody has read.
  init(_ row: RowState) {
    if let code = row.errorCode ?? row.shelfCode {
      let reason = row.errorCode == nil ? row.shelfError : row.error
      self = .parked(code: Int(clamping: code), reason: reason ?? "no reason is known")
    } else if let name = row.waitsFor {
      self = .waiting(recordName: name)
    } else if row.operation != nil {
      self = .inFlight
    } else {
      self = row.isEdited ? .dirty : .clean
    }
  }
}
