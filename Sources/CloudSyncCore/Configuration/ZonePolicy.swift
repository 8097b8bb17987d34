/// What happens when a zone is found to be lost, for each reason.
public struct ZonePolicy: Sendable {
  /// What the session does.
  public enum Action: Int, Sendable, CaseIterable {
    /// Create the zone and the subscription, and go on with the work, without old change tags.
    case recreate
    /// Send nothing until the app has called ``CloudSyncSession/decideZone(_:)``, but for look-ups of records that
    /// the app names: they tell whether another device has made the zone again, and fail while none has.
    case ask

    package static let codedNames: [StaticString] = ["recreate", "ask"]
  }

  /// When the zone is missing.
  public var missing = Action.recreate
  /// When the user erased the data in the settings: never recreated without the app's word by
  /// default (CKError.h at `userDeletedZone`).
  public var purged = Action.ask
  /// When the user reset the encrypted data: what the device still has is uploaded by default.
  public var encryptedDataReset = Action.recreate

  /// Creates the safe policy.
  public init() {}

  /// The action for a reason.
  public func action(for loss: ZoneLoss) -> Action {
    switch loss {
    case .missing: missing
    case .purged: purged
    case .encryptedDataReset: encryptedDataReset
    }
  }
}

/// What happens to an edit of a record that the cloud no longer has.
public enum MissingRecordPolicy: Int, Sendable, CaseIterable {
  /// The edit is saved as a new record, with its ancestor's other fields where the app gave one.
  case recreate
  /// The edit is parked with the error `unknownItem`.
  case park

  package static let codedNames: [StaticString] = ["recreate", "park"]
}

extension ZonePolicy.Action: CodedTag {}
extension MissingRecordPolicy: CodedTag {}

extension ZonePolicy: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    missing = try coder.field("missing") { $0.missing }
    purged = try coder.field("purged") { $0.purged }
    encryptedDataReset = try coder.field("encryptedDataReset") { $0.encryptedDataReset }
  }
}

/// Why a zone is not there any more.
public enum ZoneLoss: Int, Sendable, CaseIterable {
  /// The zone does not exist: it never did, or a device of the user deleted it.
  case missing
  /// The user erased the app's data in the settings.
  case purged
  /// The user reset the encrypted data of the account.
  case encryptedDataReset

  package static let codedNames: [StaticString] = ["missing", "purged", "encryptedDataReset"]
}

extension ZoneLoss: CodedTag {}
