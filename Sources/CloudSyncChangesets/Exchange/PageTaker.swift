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
    /// Those of them that hold something which is not in the log.
    var needed: Set<String> = []
    var lastPage: PageID?
  }

  private let repository: ChangesetRepository
  private let assets: AssetFolder?
  private let calls: RemoteCalls
  private let history: RemoteHistory
  private let state = Locked(State())

  init(
    repository: ChangesetRepository,
    assets: AssetFolder?,
    calls: RemoteCalls,
    history: RemoteHistory
  ) {
    self.repository = repository
    self.assets = assets
    self.calls = calls
    self.history = history
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
      if let token, HistoryMutant.tokenBeforeRows.isPresent {
        try repository.write { (work) throws(ChangesetError) in
          try work.info.set(.token, .blob(Array(token.bytes)))
        }
      }
      let startsOver = page.startedOver && page.isBeginning && !HistoryMutant.trustedZone.isPresent
      let taken = try repository.write { (work) throws(ChangesetError) in
        // Everything that the zone holds comes now: what does not is not there, as in a zone that others have made
        // again after it was lost.
        if startsOver { try RemoteState.forgetCloud(work: work) }
        var taken = TakenPacks()
        for (name, content) in zip(names, contents) {
          taken.add(try PackIntake(work: work).take(name: name, content), name: name)
        }
        for (name, reason) in failures {
          try PackIntake(work: work).refuse(name: name, because: reason, bytes: nil)
        }
        if let token { try work.info.set(.token, .blob(Array(token.bytes))) }
        try history.store(in: work)
        try work.log.index(unlessFewerThan: 200)
        return taken
      }
      state.withLock { state in
        if startsOver { state.records = [] }
        state.new += taken.new
        state.needed.formUnion(taken.incomplete)
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

  /// Stores records that were looked up because no page could bring them; false if that fails.
  func takeLookup(_ page: FetchOperation.Response) -> Bool {
    do throws(ChangesetError) {
      let packs = page.changedRecords.filter { $0.recordType == PackRecord.type }
      let contents = packs.map { PackRecord.bytes(of: $0, assets: assets) }
      let names = packs.map(\.recordID.name)
      let failures = page.failures
      let taken = try repository.write { (work) throws(ChangesetError) in
        var taken = TakenPacks()
        for (name, content) in zip(names, contents) {
          taken.add(try PackIntake(work: work).take(name: name, content), name: name)
        }
        for failure in failures {
          let name = failure.recordID.name
          if failure.error.code == .unknownItem {
            // It is gone, and with it what could be asked for.
            try PackIntake(work: work).forget(name: name)
          } else {
            try PackIntake(work: work).refuse(name: name, because: "\(failure.error)", bytes: nil)
          }
        }
        try history.store(in: work)
        return taken
      }
      state.withLock { state in
        state.new += taken.new
        state.needed.formUnion(taken.incomplete)
      }
      return true
    } catch {
      calls.fail(error: error)
      return false
    }
  }

  /// The names of records that no page could bring.
  func missingRecords() throws(ChangesetError) -> [String] {
    try repository.read { (work) throws(ChangesetError) in
      try work.connection.rows(
        "SELECT name FROM changesets_refused WHERE bytes IS NULL ORDER BY name"
      ) { $0.text(0) ?? "" }
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
        new += try PackIntake(work: work).take(name: name, .success(bytes)).new
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

  /// The names of the records that pages have brought, without those that hold what the log has not.
  func storedRecords() -> [String] {
    state.withLock { $0.records.subtracting($0.needed).sorted() }
  }

  /// Notes that the cloud has nothing any more.
  func forgetCloud() {
    do throws(ChangesetError) { try RemoteState.forgetCloud(in: repository) } catch {
      calls.fail(error: error)
    }
    state.withLock { $0.records = [] }
  }
}
