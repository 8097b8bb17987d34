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
        "the history belongs to the zone “\(known)”, not “\(name)”; reset it to begin another one"
      )
    }
    if known != nil { return }
    try repository.write { (work) throws(ChangesetError) in
      try work.info.set(.zone, .text(name))
    }
  }

  static func token(in repository: ChangesetRepository) throws(ChangesetError) -> ChangeToken? {
    try repository.read { (work) throws(ChangesetError) in
      try work.info.bytes(name: .token).flatMap { ChangeToken(Data($0)) }
    }
  }

  static func forgetToken(in repository: ChangesetRepository) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in
      try work.connection.run("DELETE FROM changesets_info WHERE name = 'token'")
    }
  }

  /// Notes that the cloud has nothing.
  static func forgetCloud(in repository: ChangesetRepository) throws(ChangesetError) {
    try repository.write { (work) throws(ChangesetError) in
      try work.connection.run("DELETE FROM changesets_info WHERE name IN ('token', 'pushed')")
      try work.connection.run("UPDATE changesets_log SET remote = 0 WHERE remote = 1")
      try work.connection.run("UPDATE changesets_tags SET remote = 0")
    }
  }
}
