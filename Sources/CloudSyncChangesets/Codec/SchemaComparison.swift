import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Compares the schema of a commit with that of the tables here.
struct SchemaComparison {
  let mine: SchemaDescription
  let theirs: SchemaDescription

  /// Throws unless the tables here can hold the state of a commit.
  func checkReadable(id: ChangesetID) throws(ChangesetError) {
    for table in theirs.tables {
      guard let present = mine.table(table.name) else {
        throw unknown(id: id, "table \(table.name.quotedName)")
      }
      for column in table.columns where !column.isGenerated {
        guard let known = present.column(column.name) else {
          throw unknown(id: id, "column \(table.name.quotedName).\(column.name.quotedName)")
        }
        guard known.keyPlace == column.keyPlace else {
          throw ChangesetError(
            .schemaMismatch,
            "commit \(id.short) is of another database: the key of table \(table.name.quotedName)"
              + " is not the same"
          )
        }
        guard column.keyPlace == 0 || known.affinity.storesKeys(as: column.affinity) else {
          throw unknown(
            id: id,
            "keys of another type in column \(table.name.quotedName).\(column.name.quotedName)"
          )
        }
      }
    }
  }

  private func unknown(id: ChangesetID, _ what: String) -> ChangesetError {
    ChangesetError(
      .needsUpgrade,
      "commit \(id.short) has \(what), which this database lacks; update the app"
    )
  }
}
