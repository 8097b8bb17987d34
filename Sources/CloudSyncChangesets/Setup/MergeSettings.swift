import CloudSyncSQLite

/// What of an app's settings merges cannot do.
enum MergeSettings {
  static func check(options: ChangesetOptions) throws(ChangesetError) {
    for (name, table) in options.tables.sorted(by: { $0.key < $1.key }) {
      let policies = [table.merging.defaultPolicy] + table.merging.columns.values
      if policies.contains(where: \.isOneSided) {
        throw ChangesetError(
          .misuse,
          "the policies client and server of table “\(name)” need a side that is the cloud; take newest"
        )
      }
      if table.uniqueKeys.isMerge {
        throw ChangesetError(
          .misuse,
          "rows of table “\(name)” with one unique key cannot become one in a history; take newest"
        )
      }
    }
  }
}
