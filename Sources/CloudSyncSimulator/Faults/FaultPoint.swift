/// Something that can go wrong, by name.
///
/// The raw values are what `cloudsync simulate --faults` takes.
public enum FaultPoint: String, Sendable, CaseIterable {
  // MARK: On the way, for each request

  /// The request does not reach the cloud; the response says that the network failed.
  case requestLost = "request-lost"
  /// The request is carried out; the response says that it was lost.
  case responseLost = "response-lost"
  /// The response comes, and the same once more later.
  case duplicated
  /// The response comes seconds late, or after the session has stopped waiting.
  case late
  /// No response ever comes; whether the request was carried out is open.
  case never
  /// The response comes after that to the next request.
  case outOfOrder = "out-of-order"

  // MARK: The service refuses, for each request

  /// Too many requests, and how long to wait.
  case throttle
  /// Too many requests, and not a word about when to come again.
  case throttleSilently = "throttle-silently"
  /// The zone is too busy.
  case zoneBusy = "zone-busy"
  /// The service is not available.
  case serviceUnavailable = "service-unavailable"
  /// The request is too large for a limit that nobody knows.
  case limitExceeded = "limit-exceeded"
  /// The file of an asset of one record is missing; an atomic request fails with it.
  case assetMissing = "asset-missing"
  /// The service fails in a way that halts a session.
  case refusal

  // MARK: The world changes, before a request

  /// The change token is too old.
  case tokenExpired = "token-expired"
  /// Another device has deleted the zone.
  case zoneDeleted = "zone-deleted"
  /// The user has erased the app's data in the settings.
  case zonePurged = "zone-purged"
  /// The user has reset the encrypted data.
  case zoneReset = "zone-reset"
  /// The user signs out, and in again later.
  case signedOut = "signed-out"
  /// Another user signs in, and the first again later.
  case accountSwitched = "account-switched"
  /// The account is not ready for a while.
  case accountUnavailable = "account-unavailable"
  /// The user's storage is full for a while.
  case quotaFull = "quota-full"

  // MARK: The devices, in a simulation only

  /// For each device: its clock is wrong, and is set now and then.
  case clockSkew = "clock-skew"
  /// For each event of a session: the app is killed right after it, and restored later.
  case killed
  /// For each edit: a device is suspended; all are released later, in random order.
  case stalled
  /// For each edit: a device has no network for a while.
  case offline

  // MARK: The storage layers, for those that tell the simulation what they write

  /// For each write of the storage layer: the app is killed in the midst of it.
  case killedWriting = "killed-writing"
  /// For each write of the storage layer: it fails, as on a full disk.
  case writeFails = "write-fails"

  // MARK: Single records

  /// For each record, in a simulation only: whenever it is sent, the cloud fails its item in passing
  /// (3, 4, 6, 7 or 23); of an atomic request nothing is saved then.
  case recordRefused = "record-refused"
  /// For each record, as long as an app runs: the response to every request that changes it, or looks it up after a conflict, is
  /// lost.
  case recordUnanswered = "record-unanswered"

  // MARK: More of the devices, in a simulation only

  /// For each edit: a device's clock is set forward or back, by minutes to days.
  case clockStep = "clock-step"
  /// For each kill amid a write for the session: zeros or old bytes of the disk are where its end
  /// should be.
  case dirtyTail = "dirty-tail"
  /// For each device: its clock is wrong by up to five years.
  case clockYears = "clock-years"

  // MARK: Databases, for those whose devices have one

  /// For each launch of the app: a migration rebuilds a table, drops a column, or drops a table and makes it again.
  case migrated
  /// For each start of the app's storage layer: it synchronizes some of the tables only.
  case fewerTables = "fewer-tables"
  /// For each edit: another process makes it, just before the storage layer writes.
  case otherProcess = "other-process"
  /// For each device: it begins with a copy of the first one's file.
  case fileCopied = "file-copied"
  /// For each zone that the user has erased: the app has its rows erased too.
  case zoneErased = "zone-erased"
  /// For each edit: a row gets another key instead, and what refers to it follows.
  case keyChanged = "key-changed"
  /// For each edit: a row's key is spelled anew instead, within what its collation holds to be equal.
  case keyRespelled = "key-respelled"
  /// For each edit: two rows swap their values of a unique key instead, or one takes it from the other.
  case valueMoved = "value-moved"
  /// For each edit: somebody removes a record from the cloud with another tool, such as a console.
  case recordRemoved = "record-removed"
  /// For each edit: another process makes a storage layer for some of the tables, such as a widget's, which looks at edits
  /// before the app's does from then on.
  case otherEngine = "other-engine"

  // MARK: More of single records

  /// For each request: the cloud says that it lacks a record which was to be changed, and has it; of an atomic request
  /// nothing is saved then.
  case recordDenied = "record-denied"

  // MARK: More of the world, before a request

  /// A backup of the cloud is made now, and put back later without a word; whoever has seen more uploads it again.
  case storeRestored = "store-restored"

  // MARK: More of rows

  /// For each edit: a row gets a key instead that none has had, or swaps its key with another row.
  case keyGiven = "key-given"
  /// For each start of the app's storage layer: of one table it sends only the rows that match a condition.
  case rowsFiltered = "rows-filtered"
  /// For each start of the app's storage layer: the app has made triggers of its own just before.
  case triggersMade = "triggers-made"
}

extension FaultPoint {
  /// Whether it is drawn by a `FaultyOperationHandler`, for each request.
  public var isOfHandler: Bool {
    switch self {
    case .clockSkew, .killed, .stalled, .offline, .killedWriting, .writeFails, .recordRefused,
      .clockStep, .dirtyTail, .clockYears:
      false
    default: !isOfDatabase
    }
  }

  /// Whether it is drawn by a device's storage layer; that of ``NotesDevice`` draws none.
  public var isOfStorage: Bool { self == .killedWriting || self == .writeFails || isOfDatabase }

  private var isOfDatabase: Bool {
    switch self {
    case .migrated, .fewerTables, .otherProcess, .fileCopied, .zoneErased, .keyChanged,
      .keyRespelled, .valueMoved, .recordRemoved, .otherEngine, .keyGiven, .rowsFiltered,
      .triggersMade:
      true
    default: false
    }
  }

  /// Whether it changes the world before a request, instead of the request itself.
  public var isOfWorld: Bool {
    switch self {
    case .tokenExpired, .zoneDeleted, .zonePurged, .zoneReset, .signedOut, .accountSwitched,
      .accountUnavailable, .quotaFull, .storeRestored:
      true
    default: false
    }
  }
}
