import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a history knows of its zone.
enum RemoteState {
  /// Notes which zone a history belongs to; throws if it is another one.
  static func claim(
    zoneID: ZoneID,
    in repository: ChangesetRepository
  ) throws(ChangesetError) {
    let name = "\(zoneID.scope):\(zoneID)"
    let known = try repository.read { (work) throws(ChangesetError) in
      try work.info.text(name: .zone)
    }
    if let known, known != name {
      throw ChangesetError(
        .foreignCloud,
        "the history was synced with the zone “\(known)”, not “\(name)”; a history has one zone"
      )
    }
    if known != nil { return }
    try repository.write { (work) throws(ChangesetError) in
      try work.info.set(.zone, .text(name))
    }
  }

  /// The name of the user's own zone that a history was synced with; nil if there is none.
  static func ownZone(in repository: ChangesetRepository) throws(ChangesetError) -> String? {
    let start = "\(DatabaseScope.private):"
    return try repository.read { (work) throws(ChangesetError) in
      try work.info.text(name: .zone)
        .flatMap {
          $0.hasPrefix(start) ? String($0.dropFirst(start.count)) : nil
        }
    }
  }

  /// What a session begins with.
  ///
  /// Its number is one more than that of the last, so that no attempt has the name of one before it, and it waits for what is
  /// left of a wait that the cloud has asked for. Nothing else of a session is stored.
  static func nextEssence(
    zoneID: ZoneID,
    in repository: ChangesetRepository
  ) throws(ChangesetError) -> SyncEssence {
    let owner = try account(in: repository)
    return try repository.write { (work) throws(ChangesetError) in
      let number = (try work.info.integer(.session) ?? 0) + 1
      try work.info.set(.session, .integer(number))
      let stored = try work.info.bytes(name: .wait).flatMap { try? SyncEssence(Data($0)) }
      let known = stored.flatMap { $0.zoneID == zoneID ? $0 : nil }
      let fresh = { SyncState(zoneID: zoneID, configuration: SyncConfiguration()).essence }
      return (known ?? fresh()).renewed(owner: owner, epoch: UInt64(number))
    }
  }

  static func token(in repository: ChangesetRepository) throws(ChangesetError) -> ChangeToken? {
    try repository.read { (work) throws(ChangesetError) in
      try work.info.bytes(name: .token).flatMap { ChangeToken(Data($0)) }
    }
  }

  /// Has the next fetch bring everything; with what was removed here too, unless it is only looked at.
  static func forgetToken(
    in repository: ChangesetRepository,
    bringingBack: Bool = true
  ) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in
      try work.connection.run("DELETE FROM changesets_info WHERE name = 'token'")
      if bringingBack, try work.info.integer(.horizon) != nil {
        try work.info.set(.refill, .integer(1))
      }
    }
  }

  /// Whether packs were deleted from the zone since it was last fetched from the beginning, and not by a squash.
  ///
  /// Nobody can say what they held that no other has, so the zone is fetched anew, and what it lacks is sent. A squash
  /// deletes what nobody needs, and leaves the state that the history begins with.
  static func mayLackPacks(in repository: ChangesetRepository) throws(ChangesetError) -> Bool {
    let isNoted = try repository.database.use { (connection) throws(ChangesetError) in
      try Info(connection).integer(.deletions) != nil
    }
    guard isNoted else { return false }
    return try repository.write { (work) throws(ChangesetError) in
      guard let horizon = try Horizon(work.connection)?.row.id else { return true }
      let snapshots = try ZoneReports(connection: work.connection).snapshots()
      guard snapshots.contains(where: { $0.place.id == horizon }) else { return true }
      try work.connection.run("DELETE FROM changesets_info WHERE name = 'deletions'")
      return false
    }
  }

  /// Notes that the cloud has nothing.
  static func forgetCloud(in repository: ChangesetRepository) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in try forgetCloud(work: work) }
  }

  static func forgetCloud(work: HistoryWork) throws(ChangesetError) {
    // What is on its way was for the cloud that is gone.
    try work.info.set(.era, .integer((try work.info.integer(.era) ?? 0) + 1))
    try forget(connection: work.connection)
  }

  private static func forget(connection: HistoryConnection) throws(ChangesetError) {
    try connection.run(
      """
      DELETE FROM changesets_info
      WHERE name IN ('token', 'shown', 'pushed', 'declared', 'reported', 'deletions')
      """
    )
    try ZoneReports(connection: connection).forget()
    try StrayCommits(connection: connection).note()
    if HistoryMutant.forgottenZone.isPresent { return }
    try connection.run("UPDATE changesets_log SET remote = 0 WHERE remote = 1")
    try connection.run("UPDATE changesets_tags SET remote = 0")
  }

  /// Forgets which zone a history belongs to, whose it is, and what the cloud has.
  static func leave(in repository: ChangesetRepository) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in
      try forgetCloud(work: work)
      try work.connection.run(
        "DELETE FROM changesets_info WHERE name IN ('zone', 'account', 'wait')"
      )
    }
  }

  // MARK: Account

  /// Whose the history is; nil if no provider has told yet.
  static func account(
    in repository: ChangesetRepository
  ) throws(ChangesetError) -> AccountIdentity? {
    try repository.read { (work) throws(ChangesetError) in
      try work.info.text(name: .account).map { AccountIdentity($0) }
    }
  }

  /// Notes whose the history is; throws if it is another's.
  static func claim(
    account: AccountIdentity,
    in repository: ChangesetRepository
  ) throws(ChangesetError) {
    guard let known = try self.account(in: repository) else {
      return try repository.write { (work) throws(ChangesetError) in
        try work.info.set(.account, .text(account.value))
      }
    }
    if known != account { throw .anotherAccount }
  }

  /// Gives the history to another account, in whose cloud nothing of it is.
  static func adopt(
    account: AccountIdentity,
    in repository: ChangesetRepository
  ) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in
      try work.info.set(.account, .text(account.value))
      try forgetCloud(work: work)
    }
  }
}

/// Commits that came from a cloud that is gone, and were not taken in while it was there.
///
/// They wait for others, or were no use. No other cloud is known to have them, so whoever can take them in at last sends
/// them.
struct StrayCommits {
  let connection: HistoryConnection

  func ids() throws(ChangesetError) -> Set<ChangesetID> {
    let bytes = try Info(connection).bytes(name: .strays) ?? []
    return Set(
      stride(from: 0, to: bytes.count, by: 32)
        .compactMap { ChangesetID(bytes: bytes[$0..<min($0 + 32, bytes.count)]) }
    )
  }

  /// Notes those that there are, as their cloud goes.
  func note() throws(ChangesetError) {
    var ids = try ids()
    let waiting = try connection.rows(
      "SELECT id FROM changesets_waiting WHERE missing IS NOT NULL ORDER BY id"
    ) { $0.bytes(0) }
    ids.formUnion(waiting.compactMap { ChangesetID(bytes: $0) })
    let refused = try connection.rows(
      "SELECT bytes FROM changesets_refused WHERE bytes IS NOT NULL ORDER BY name"
    ) { $0.bytes(0) }
    for bytes in refused {
      guard let pack = try? Pack(bytes) else { continue }
      ids.formUnion(pack.entries.map(\.id))
    }
    if ids.isEmpty { return }
    try Info(connection).set(.strays, .blob(ids.sorted().flatMap(\.bytes)))
  }
}

extension ChangesetError {
  static var anotherAccount: ChangesetError {
    ChangesetError(
      .accountChanged,
      "another account is signed in than the one that the history belongs to; “adopt” gives it to that one"
    )
  }
}
