import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A commit that takes another one back, held against what the rows would be without that one.
struct HistoryReversal {
  let reverting: HistoryCommit
  let reverted: HistoryCommit
  /// All commits, by their numbers.
  let commits: [HistoryCommit]
  /// How devices merge.
  let rules: Set<SimulatedMergeRules>

  /// A value that is not the latest of those who did not know the commit; nil if there is none.
  ///
  /// Only cells count that nobody has written since who knew it, in rows that were there all the time.
  func difference(besides settled: Set<HistoryRowID>) -> String? {
    guard let head = reverting.parents.first, let before = reverted.parents.first else {
      return nil
    }
    let others = commits.filter { commit in
      !commit.isMerge && head.ancestors.contains(commit.number)
        && !reverted.ancestors.contains(commit.number)
        && !commit.ancestors.contains(reverted.number)
    }
    if others.isEmpty { return nil }
    for id in reverted.state.keys.sorted() where !settled.contains(id) {
      guard let own = reverted.state[id], let old = before.state[id],
        let present = head.state[id], let made = reverting.state[id],
        [old, present, made].allSatisfy({ $0.time == own.time }),
        others.allSatisfy({ isAlways(row: own, id: id, at: $0) })
      else { continue }
      for column in own.columns.sorted() where isNewest(column: column, of: id.table) {
        let (mine, former) = (own[column], old[column])
        guard mine.writer == reverted.number, mine.value != former.value,
          present[column].value == mine.value, made[column].writer == reverting.number
        else { continue }
        // What takes back what others have written counts as much as that: neither does.
        let isTakenBack = others.contains { other in
          other.isReversal && other.state[id]?[column].writer == other.number
        }
        if isTakenBack { continue }
        let written = others.compactMap { other -> HistoryCell? in
          guard let cell = other.state[id]?[column], cell.writer == other.number else { return nil }
          return cell
        }
        // Else somebody who knew the commit has written the same value since, or a migration has.
        guard ([mine] + written).contains(where: { $0.time == present[column].time }),
          (written + [mine, former]).allSatisfy({ $0.sources == nil })
        else { continue }
        let wanted = written.reduce(former) { $1.time > $0.time ? $1 : $0 }
        let found = made[column].value
        if found != wanted.value {
          return "\(id.text).\(column) is \(found.literal), not \(wanted.value.literal)"
        }
      }
    }
    return nil
  }

  /// Whether a row is the same one at a commit, and was not deleted by it.
  private func isAlways(row: HistoryRow, id: HistoryRowID, at commit: HistoryCommit) -> Bool {
    if let present = commit.state[id] { return present.time == row.time }
    return commit.parents.first?.state[id] == nil
  }

  /// Whether the latest value of a column counts for all: not what is computed, and not what apps do not know yet.
  private func isNewest(column: String, of table: String) -> Bool {
    column != "c"
      && rules.allSatisfy { rule in
        rule.column(column, of: table) == .newest && !(rule.asksApp && column == "a")
      }
  }
}
