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
    /// What packs hold, while that is asked for.
    var contents: [String: [ChangesetID]]?
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
      let records = ZonePage(page, assets: assets)
      let failures = page.failures.map { ($0.recordID.name, "\($0.error)") }
      let token = page.changeToken
      if let token, HistoryMutant.tokenBeforeRows.isPresent {
        try repository.write { (work) throws(ChangesetError) in
          try work.info.set(.token, .blob(Array(token.bytes)))
        }
      }
      let startsOver = page.startedOver && page.isBeginning && !HistoryMutant.trustedZone.isPresent
      let losesPacks = losesPacks(page)
      let taken = try repository.write { (work) throws(ChangesetError) in
        // Everything that the zone holds comes now: what does not is not there, as in a zone that others have made
        // again after it was lost.
        if startsOver { try RemoteState.forgetCloud(work: work) }
        let taken = try records.taken(by: work)
        if losesPacks { try work.info.set(.deletions, .integer(1)) }
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
        state.contents?.merge(taken.contents) { $1 }
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

  /// Whether packs are gone that were in the zone when it was last fetched from the beginning; a cloud may tell of older
  /// deletions too as it begins.
  private func losesPacks(_ page: FetchOperation.Response) -> Bool {
    let known = page.isBeginning ? [] : state.withLock { $0.records }
    return page.deletedRecordIDs.contains { id in
      id.name.hasPrefix(Pack.namePrefix) && (!page.startedOver || known.contains(id.name))
    }
  }

  /// Stores records that were looked up because no page could bring them; false if that fails.
  func takeLookup(_ page: FetchOperation.Response) -> Bool {
    do throws(ChangesetError) {
      let records = ZonePage(page, assets: assets)
      let failures = page.failures
      let taken = try repository.write { (work) throws(ChangesetError) in
        let taken = try records.taken(by: work)
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

  /// Goes over to the horizon that replicas tell of, and puts aside what waits for nothing, once all is here that the
  /// zone holds.
  func settleHorizon() throws(ChangesetError) {
    let isDue = try repository.read { (work) throws(ChangesetError) in
      if try ZoneReports(connection: work.connection).isThere() { return true }
      guard try Horizon(work.connection) != nil else { return false }
      return try CommitsAside(connection: work.connection).countWaiting() > 0
    }
    guard isDue else { return }
    let new = try repository.write { (work) throws(ChangesetError) in
      let adoption = HorizonAdoption(work: work)
      do throws(ChangesetError) {
        return try work.connection.transaction { () throws(ChangesetError) in
          try adoption.runTakingWaiting()
        }
      } catch {
        // A snapshot that holds something else is no reason to stop.
        guard [.damaged, .schemaMismatch].contains(error.code),
          work.connection.sqlite.isInTransaction, let name = try adoption.snapshotName()
        else { throw error }
        try PackIntake(work: work).refuse(name: name, because: error.reason, bytes: nil)
        return []
      }
    }
    state.withLock { $0.new += new }
  }

  /// Notes from now on what packs hold.
  func beginListing() { state.withLock { $0.contents = [:] } }

  /// What the packs hold that pages have brought since listing began.
  func endListing() -> [String: [ChangesetID]] {
    state.withLock { state in
      defer { state.contents = nil }
      return state.contents ?? [:]
    }
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
