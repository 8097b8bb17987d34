package import CloudSyncSQLite

/// How the rows of a history are merged.
package struct MergeRules: Sendable {
  /// How those of one table are.
  package struct Table: Sendable {
    package var merging: TableMergePolicy
    package var uniqueKeys: UniqueKeyPolicy
    package var orphans: OrphanPolicy
    /// Whether two replicas give different rows one key, as integers are given.
    package var sharesKeys: Bool

    package init(
      merging: TableMergePolicy = TableMergePolicy(deletes: .editWins),
      uniqueKeys: UniqueKeyPolicy = .newest,
      orphans: OrphanPolicy = .restoreParent,
      sharesKeys: Bool = false
    ) {
      self.merging = merging
      self.uniqueKeys = uniqueKeys
      self.orphans = orphans
      self.sharesKeys = sharesKeys
    }
  }

  /// By the table's name as it is declared; for the others the defaults.
  package var tables: [String: Table]
  /// What rows hold in columns that nobody has set.
  var constants: [Fills] = []
  /// The columns of each table that are not in its key: a row that is inserted names only those that it sets.
  package var columns: [String: [String]] = [:]

  package init(tables: [String: Table] = [:]) { self.tables = tables }

  /// What every replica has, whatever its app settles.
  ///
  /// Commits that have all edits in common differ by unlike settings only. Merged by one rule for all they become
  /// one commit, and the exchange ends.
  var plain: MergeRules {
    var rules = MergeRules()
    rules.columns = columns
    return rules
  }

  package func table(_ name: String) -> Table { tables[name] ?? Table() }
}

/// A row that both sides have changed so that something of it is lost, as a handler of the app sees it.
package struct ContestedRow: Sendable {
  package var table: String
  package var key: RowKey
  package var kind: MergeConflict.Kind
  /// The columns in question.
  package var columns: [String]
  /// The whole rows, without the columns of the key and those that are NULL; nil where there is none.
  package var base: [CellValue]?
  package var ours: [CellValue]?
  package var theirs: [CellValue]?
  /// The commit with the smaller identifier.
  package var oursID: ChangesetID
  package var theirsID: ChangesetID
}

/// What a handler says of a contested row.
package enum RowAnswer: Sendable {
  /// As the table's policies have it.
  case automatic
  /// As the policies have it, but for these columns.
  case values([CellValue])
  case delete
  /// Nothing yet: the merge is not made.
  case later
}

/// A function of the app that is asked about contested rows; it must say the same for the same row.
package typealias RowHandler =
  @Sendable (ContestedRow) throws(ChangesetError) -> RowAnswer
