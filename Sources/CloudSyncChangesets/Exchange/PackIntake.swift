import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What became of several packs.
struct TakenPacks: Sendable {
  var new: [ChangesetID] = []
  /// The names of those that hold something which is not in the log.
  var incomplete: [String] = []
  /// What each holds, by name.
  var contents: [String: [ChangesetID]] = [:]

  mutating func add(_ outcome: PackIntake.Outcome, name: String) {
    new += outcome.new
    contents[name] = outcome.ids
    if !outcome.isComplete { incomplete.append(name) }
  }
}

/// Takes packs in, or keeps them with the reason why that is impossible.
struct PackIntake {
  let work: HistoryWork

  /// What became of a pack.
  struct Outcome: Sendable {
    /// The commits that are new.
    var new: [ChangesetID] = []
    /// Whether all that it holds is in the log now.
    var isComplete = false
    /// All that it holds.
    var ids: [ChangesetID] = []
  }

  func take(
    name: String,
    _ content: Result<[UInt8], AssetFailure>
  ) throws(ChangesetError) -> Outcome {
    let bytes: [UInt8]
    switch content {
    case .success(let found): bytes = found
    case .failure(let failure):
      try refuse(name: name, because: failure.reason, bytes: nil)
      return Outcome()
    }
    let pack: Pack
    do throws(PackFault) {
      guard Pack.name(of: bytes) == name else {
        throw .damaged(ByteFault("its bytes are not those that its name says"))
      }
      pack = try Pack(bytes)
    } catch {
      try refuse(name: name, because: error.reason, bytes: bytes)
      return Outcome()
    }
    do throws(ChangesetError) {
      return try work.connection.transaction { () throws(ChangesetError) in
        let intake = try Intake(work: work)
        let new = try intake.take(pack: pack).map(\.id)
        try forget(name: name)
        if intake.besideCount > 0 {
          try refuse(
            name: name,
            because: Self.reason(besideCount: intake.besideCount),
            bytes: bytes
          )
        }
        return Outcome(
          new: new,
          isComplete: try isComplete(pack: pack),
          ids: pack.entries.map(\.id)
        )
      }
    } catch {
      // What is wrong with the pack is no reason to stop; what is wrong with the database is.
      guard [.damaged, .schemaMismatch].contains(error.code), work.connection.sqlite.isInTransaction
      else { throw error }
      try refuse(name: name, because: error.reason, bytes: bytes)
      return Outcome()
    }
  }

  /// Why commits are no use that do not go on from the horizon.
  static func reason(besideCount: Int) -> String {
    "\(besideCount) of its commits go on from before the history was squashed; whoever made"
      + " them puts them on top of it with “rebase”, anybody else with “rebase --others”"
  }

  /// Why a commit is no use that goes on from nothing which the cloud has.
  static let lacksParents =
    "its commit goes on from one that no copy has sent, as from before the history was squashed; whoever made it puts"
    + " it on top of it with “rebase”, anybody else with “rebase --others”"

  /// Whether records may hold something that cannot be read yet.
  func hasUnread() throws(ChangesetError) -> Bool {
    let records = try work.connection.rows("SELECT bytes FROM changesets_refused ORDER BY name") {
      $0.isNull(0) ? nil : $0.bytes(0)
    }
    return records.contains { bytes in
      guard let bytes else { return true }
      do throws(PackFault) { _ = try Pack(bytes) } catch {
        if case .newer = error { return true }
      }
      return false
    }
  }

  private func isComplete(pack: Pack) throws(ChangesetError) -> Bool {
    for entry in pack.entries where try work.log.number(of: entry.id) == nil { return false }
    return true
  }

  /// Takes a record off the list of those that are no use.
  func forget(name: String) throws(ChangesetError) {
    try work.connection.run("DELETE FROM changesets_refused WHERE name = ?1", .text(name))
  }

  func refuse(name: String, because reason: String, bytes: [UInt8]?) throws(ChangesetError) {
    try work.connection.run(
      "REPLACE INTO changesets_refused VALUES(?1, ?2, ?3)",
      .text(name),
      .text(reason),
      bytes.map { .blob($0) } ?? .null
    )
  }
}

/// The record of a pack.
enum PackRecord {
  static let type = "ChangesetPack"

  /// Whether a record holds other bytes than its name says; of files that cannot be told here.
  static func isDamaged(_ record: Record) -> Bool {
    switch record["data"] {
    case .asset?: false
    case .data(let data)?:
      switch record.recordType {
      case type: Pack.name(of: Array(data)) != record.recordID.name
      case Snapshot.recordType: Snapshot.name(of: Array(data)) != record.recordID.name
      default: true
      }
    default: record[part(0)] == nil
    }
  }

  static func bytes(of record: Record, assets: AssetFolder?) -> Result<[UInt8], AssetFailure> {
    switch record["data"] {
    case .data(let data)?: return .success(Array(data))
    case .asset(let asset)?:
      guard let assets else {
        return .failure(AssetFailure(reason: "it is a file, and the remote has no folder for such"))
      }
      return assets.read(asset)
    default: return parts(of: record, assets: assets)
    }
  }

  /// The name of one of several fields that a large pack is divided into.
  static func part(_ number: Int) -> String { "part\(number)" }

  /// The bytes of a pack that is in several files.
  private static func parts(
    of record: Record,
    assets: AssetFolder?
  ) -> Result<[UInt8], AssetFailure> {
    var bytes: [UInt8] = []
    var number = 0
    while case .asset(let asset)? = record[part(number)] {
      guard let assets else {
        return .failure(
          AssetFailure(reason: "it is several files, and the remote has no folder for such")
        )
      }
      switch assets.read(asset) {
      case .success(let more): bytes += more
      case .failure(let failure): return .failure(failure)
      }
      number += 1
    }
    return number == 0 ? .failure(AssetFailure(reason: "it has no data")) : .success(bytes)
  }
}
