import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The names of a merge's rows, of which two may not be alike.
enum HistoryNames {
  /// What is wrong with them; nil if of all that wanted a name the one has it that was given it last.
  ///
  /// Which one that is no model of cells can tell: it is a matter of several rows.
  static func difference(of merge: HistoryCommit, from data: Commit) -> String? {
    for conflict in data.conflicts where conflict.kind == .unique && !conflict.isSetAside {
      for lost in conflict.lost where lost.column == "name" {
        guard case .text(let name) = lost.value else { continue }
        let row = HistoryRowID(table: conflict.table, key: conflict.key)
        for (holder, cells) in merge.state where holder.table == row.table && holder != row {
          guard case .text(let other) = cells["name"].value, isSame(name, other),
            cells["name"].time < lost.time
          else { continue }
          return
            "\(holder.text) has the name \(name) since \(cells["name"].time), and \(row.text) was given it at \(lost.time)"
        }
      }
    }
    return nil
  }

  /// Whether the tables take two names for one: they compare without the case of ASCII letters.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let folded = { (text: String) in text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 } }
    return folded(one) == folded(other)
  }
}
