// Mistakes of merges that a test puts in; without one these change nothing.

import CloudSyncCore
import CloudSyncSQLite

extension HistoryWork {
  /// Whether this replica is one of those that do it otherwise.
  fileprivate var isOdd: Bool {
    let name = (try? replica()) ?? ""
    return name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % 2 != 0
  }
}

extension MergeRules {
  func mutated(by work: HistoryWork) -> MergeRules {
    guard HistoryMutant.winnerByReplica.isPresent, work.isOdd else { return self }
    var rules = self
    for name in rules.tables.keys { rules.tables[name]?.merging.columns["a"] = .maximum }
    return rules
  }
}

extension MergePlan {
  func mutated(by work: HistoryWork) -> MergePlan {
    var plan = self
    if HistoryMutant.unsortedParents.isPresent, work.isOdd, conflicts.isEmpty {
      plan.parents.reverse()
      swap(&plan.firstNet, &plan.secondNet)
      plan.changes = secondNetChanges
    }
    if HistoryMutant.ownTime.isPresent { plan.changes = changes.written(at: time) }
    return plan
  }

  /// What leads from the second parent to the merge, where nothing of either side is lost.
  private var secondNetChanges: StateDelta {
    let back = secondNet.inverted(at: time)
    guard let base = try? back.followed(by: firstNet), let all = try? base.followed(by: changes)
    else {
      return changes
    }
    return all
  }
}

extension Commit {
  mutating func mutate(by work: HistoryWork) {
    guard HistoryMutant.randomMergeIDs.isPresent else { return }
    header.meta = "\(work.options.environment.nonce())"
  }
}
