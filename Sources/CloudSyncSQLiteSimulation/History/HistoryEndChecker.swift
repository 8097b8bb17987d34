import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension ChangesetDevice {
  package static func makeCheckers() -> sending [any SimulationChecker]? {
    [HistoryStateChecker(), HistoryEqualityChecker(), HistoryMergeChecker(), HistoryEditChecker()]
  }
}

extension SimulationEnd {
  var changesetDevices: [ChangesetDevice] { devices.compactMap { $0.device as? ChangesetDevice } }
}

/// In the end every history is what it says, and its database holds what its tables demand.
final class HistoryStateChecker: SimulationChecker {
  let rule = "in the end every history is whole and every database is sound"

  /// Queries that must give nothing.
  private static let empty = [
    "PRAGMA foreign_key_check",
    "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
  ]

  func finish(_ end: SimulationEnd) -> String? {
    for device in end.changesetDevices {
      let name = "device \(device.setup.number)"
      if let failure = device.history.withLock({ $0.failures.first }) {
        return "\(name): \(failure)"
      }
      do throws(ChangesetError) {
        let repository = try device.inspected()
        if let problem = try repository.verify().problems.first {
          return "\(name): \(problem)"
        }
        let status = try repository.status()
        if !status.isClean { return "\(name) has rows that are not committed: \(status.tables)" }
        if status.unpushedCount > 0 {
          return "\(name) has not sent \(status.unpushedCount) commits"
        }
        if status.waitingCount > 0 {
          return "\(name) waits for the parents of \(status.waitingCount) commits"
        }
        let forgeries = device.history.withLock { $0.forgeries }
        if status.behindCount > 0 { return "\(name) is behind with \(status.behindCount) heads" }
        if status.leftBehindCount > 0 {
          return "\(name) has \(status.leftBehindCount) commits that nobody has put on top"
        }
        let isSquashed = try repository.horizon() != nil
        if let refused = status.refused.first(where: { refused in
          // What goes on from before a squash nobody takes.
          !forgeries.contains(refused.name) && !(isSquashed && refused.reason.contains("squashed"))
        }) {
          return "\(name) refuses \(refused.name): \(refused.reason)"
        }
      } catch { return "\(name) cannot be read: \(error)" }
      for query in Self.empty + [device.triggers.mirrorDifference].compactMap(\.self) {
        let lines = device.attempt { () throws in try device.disk.file().lines(sql: query) }
        if let line = lines?.first ?? (lines == nil ? "nothing" : nil) {
          return "\(name): \(line) is left by \(query)"
        }
      }
    }
    return nil
  }
}

/// In the end all replicas have the same commits, heads and rows, and so has who gets all from the cloud.
final class HistoryEqualityChecker: SimulationChecker {
  let rule = "in the end all histories are equal, and equal to the cloud"

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.changesetDevices
    guard let first = devices.first else { return nil }
    do {
      // What was removed on one is not in its list, and rows that one has parked are in no table.
      let comparesLost = devices.allSatisfy { device in
        device.schema.tagRule == nil && !device.isSquashed
          && device.history.withLock { !$0.hasCollected }
      }
      let wanted = try Self.summary(
        of: first.inspected(),
        rows: first.rows,
        comparesLost: comparesLost
      )
      for device in devices.dropFirst() {
        let found = try Self.summary(
          of: device.inspected(),
          rows: device.rows,
          comparesLost: comparesLost
        )
        if let text = found.difference(from: wanted) {
          return "device \(device.setup.number) \(text), unlike device 0"
        }
      }
      let clone = try Self.clone(of: first, from: end.records)
      let text =
        try Self.summary(of: clone.repository, rows: clone.rows, comparesLost: comparesLost)
        .difference(from: wanted)
      return text.map { "a clone \($0), unlike device 0" }
    } catch { return "a history cannot be read: \(error)" }
  }

  /// What must be equal of two histories.
  private struct Summary {
    var horizon: ChangesetID?
    /// Those that go on from there.
    var commits: Set<ChangesetID>
    var branches: [String]
    var tags: [String]
    var head: Head
    /// What merges have lost; empty where it is not compared.
    var lost: [String]
    var rows: [String]

    func difference(from other: Summary) -> String? {
      if horizon != other.horizon {
        return "begins with \(horizon?.short ?? "-") instead of \(other.horizon?.short ?? "-")"
      }
      if let id = commits.subtracting(other.commits).min() { return "has commit \(id.short)" }
      if let id = other.commits.subtracting(commits).min() { return "lacks commit \(id.short)" }
      if branches != other.branches { return "has branches \(branches) for \(other.branches)" }
      if tags != other.tags { return "has tags \(tags) for \(other.tags)" }
      if head != other.head { return "is at \(head) instead of \(other.head)" }
      if lost != other.lost { return "has lost \(lost) and not \(other.lost)" }
      if let row = rows.first(where: { !other.rows.contains($0) }) { return "has \(row)" }
      if let row = other.rows.first(where: { !rows.contains($0) }) { return "lacks \(row)" }
      return nil
    }
  }

  private static func summary(
    of repository: ChangesetRepository,
    rows: [EndRow],
    comparesLost: Bool
  ) throws(ChangesetError) -> Summary {
    // A branch that one replica has begun is nobody else's concern before its first commit.
    let commits = try repository.log(LogQuery(isOfAllBranches: true))
    let names = Dictionary(commits.map { ($0.id, $0.branch) }, uniquingKeysWith: { one, _ in one })
    let branches = try repository.branches()
      .map { branch in
        (name: branch.name, heads: branch.heads.filter { names[$0] == branch.name })
      }
    let horizon = try repository.horizon()
    let conflicts = comparesLost ? try repository.conflicts() : []
    return Summary(
      horizon: horizon?.id,
      commits: Set(commits.filter { $0.generation >= horizon?.generation ?? 0 }.map(\.id)),
      branches: branches.filter { !$0.heads.isEmpty }
        .map { "\($0.name) \($0.heads.map(\.short))" },
      tags: try repository.tags().map { "\($0.name) \($0.id.short)" },
      head: try repository.head(),
      lost: conflicts.filter { !$0.lost.isEmpty }.map { "\($0.merge?.short ?? "") \($0.number)" },
      rows: rows.map(\.line)
    )
  }

  /// A copy that begins with nothing but what the cloud has.
  static func clone(
    of device: ChangesetDevice,
    from records: [Record]
  ) throws -> (repository: ChangesetRepository, rows: [EndRow]) {
    let copy = ChangesetDevice(
      DeviceSetup(
        number: 0,
        zoneID: device.setup.zoneID,
        seed: device.setup.seed,
        commonSeed: device.setup.commonSeed
      ),
      isNewest: true
    )
    let repository = try ChangesetRepository(
      copy.disk.file(),
      tables: copy.triggers.tables(version: copy.version),
      options: ChangesetOptions(replica: "clone", tables: copy.rules.tables(schema: copy.schema))
    )
    try repository.take(records: records)
    _ = try repository.pull()
    return (repository, copy.rows)
  }
}
