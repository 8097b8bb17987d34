import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores pages of the zone: their commits and their token in one transaction.
final class PageTaker: Sendable {
  private struct State {
    var new: [ChangesetID] = []
    /// The records that pages have brought.
    var records: Set<String> = []
    var lastPage: PageID?
  }

  private let repository: ChangesetRepository
  private let assets: AssetFolder?
  private let calls: RemoteCalls
  private let state = Locked(State())

  init(repository: ChangesetRepository, assets: AssetFolder?, calls: RemoteCalls) {
    self.repository = repository
    self.assets = assets
    self.calls = calls
  }

  /// Stores a page; if that fails whoever waits for it is told, and false returned.
  func take(_ page: FetchOperation.Response) -> Bool {
    // It completes another fetch of the same run.
    if state.withLock({ $0.lastPage }) == page.page { return true }
    do throws(ChangesetError) {
      let packs = page.changedRecords.filter { $0.recordType == PackRecord.type }
      let contents = packs.map { PackRecord.bytes(of: $0, assets: assets) }
      let names = packs.map(\.recordID.name)
      let failures = page.failures.map { ($0.recordID.name, "\($0.error)") }
      let token = page.changeToken
      let new = try repository.write { (work) throws(ChangesetError) in
        var new: [ChangesetID] = []
        for (name, content) in zip(names, contents) {
          new += try PackIntake(work: work).take(name: name, content)
        }
        for (name, reason) in failures {
          try PackIntake(work: work).refuse(name: name, because: reason, bytes: nil)
        }
        if let token { try work.info.set(.token, .blob(Array(token.bytes))) }
        try work.log.index(unlessFewerThan: 200)
        return new
      }
      state.withLock { state in
        state.new += new
        state.records.formUnion(page.changedRecords.map(\.recordID.name))
        state.records.subtract(page.deletedRecordIDs.map(\.name))
        state.lastPage = page.page
      }
      return true
    } catch {
      calls.fail(error: error)
      return false
    }
  }

  /// Tries again what was refused: this version may know what another did not.
  func retryRefused() throws(ChangesetError) {
    let new = try repository.write { (work) throws(ChangesetError) in
      let refused = try work.connection.rows(
        "SELECT name, bytes FROM changesets_refused WHERE bytes IS NOT NULL ORDER BY name"
      ) { (name: $0.text(0) ?? "", bytes: $0.bytes(1)) }
      var new: [ChangesetID] = []
      for (name, bytes) in refused {
        try work.connection.run("DELETE FROM changesets_refused WHERE name = ?1", .text(name))
        new += try PackIntake(work: work).take(name: name, .success(bytes))
      }
      return new
    }
    state.withLock { $0.new += new }
  }

  /// The new commits that came since the last call.
  func takeNew() throws(ChangesetError) -> [Changeset] {
    let ids = state.withLock { state in
      defer { state.new = [] }
      return state.new
    }
    return try repository.read { (work) throws(ChangesetError) in
      var changesets: [Changeset] = []
      for id in ids {
        guard let seq = try work.log.number(of: id) else { continue }
        changesets.append(try work.changeset(row: try work.log.row(seq)))
      }
      return changesets
    }
  }

  func knownRecords() throws(ChangesetError) -> [String] {
    state.withLock { $0.records.sorted() }
  }

  /// Notes that the cloud has nothing any more.
  func forgetCloud() {
    do throws(ChangesetError) { try RemoteState.forgetCloud(in: repository) } catch {
      calls.fail(error: error)
    }
    state.withLock { $0.records = [] }
  }
}

/// Takes packs in, or keeps them with the reason why that is impossible.
struct PackIntake {
  let work: HistoryWork

  /// Returns the commits that are new.
  func take(
    name: String,
    _ content: Result<[UInt8], AssetFailure>
  ) throws(ChangesetError) -> [ChangesetID] {
    let bytes: [UInt8]
    switch content {
    case .success(let found): bytes = found
    case .failure(let failure):
      try refuse(name: name, because: failure.reason, bytes: nil)
      return []
    }
    let pack: Pack
    do throws(PackFault) {
      guard Pack.name(of: bytes) == name else {
        throw .damaged(ByteFault("its bytes are not those that its name says"))
      }
      pack = try Pack(bytes)
    } catch {
      try refuse(name: name, because: error.reason, bytes: bytes)
      return []
    }
    do throws(ChangesetError) {
      return try work.connection.transaction { () throws(ChangesetError) in
        try Intake(work: work).take(pack: pack).map(\.id)
      }
    } catch {
      // What is wrong with the pack is no reason to stop; what is wrong with the database is.
      guard [.damaged, .schemaMismatch].contains(error.code), work.connection.sqlite.isInTransaction
      else { throw error }
      try refuse(name: name, because: error.reason, bytes: bytes)
      return []
    }
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

  static func bytes(of record: Record, assets: AssetFolder?) -> Result<[UInt8], AssetFailure> {
    switch record["data"] {
    case .data(let data)?: return .success(Array(data))
    case .asset(let asset)?:
      guard let assets else {
        return .failure(AssetFailure(reason: "it is a file, and the remote has no folder for such"))
      }
      return assets.read(asset)
    default: return .failure(AssetFailure(reason: "it has no data"))
    }
  }
}
