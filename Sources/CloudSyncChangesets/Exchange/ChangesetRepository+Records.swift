import CloudSyncCore
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// All commits, parents before children, their changes as the present schema has them.
  package func commits() throws(ChangesetError) -> [(id: ChangesetID, commit: Commit)] {
    try read { (work) throws(ChangesetError) in
      var commits: [(id: ChangesetID, commit: Commit)] = []
      var last: Int64 = 0
      while true {
        let rows = try work.log.rows(after: last, limit: 500)
        guard let end = rows.last else { return commits }
        last = end.seq
        for row in rows { commits.append((row.id, try work.log.commit(row))) }
      }
    }
  }

  /// Takes a record of a pack in, as a fetch does.
  package func take(packNamed name: String, bytes: [UInt8]) throws(ChangesetError) {
    _ = try write { (work) throws(ChangesetError) in
      try PackIntake(work: work).take(name: name, .success(bytes))
    }
  }
}
