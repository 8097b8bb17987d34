package import CloudSyncCore
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// A commit of the log; whether it is set aside because it does not go on from the horizon.
  package typealias LoggedCommit = (id: ChangesetID, commit: Commit, isBeside: Bool)

  /// All commits that have their changes, parents before children, their changes as the present schema has them.
  package func commits() throws(ChangesetError) -> [LoggedCommit] {
    try read { (work) throws(ChangesetError) in
      var commits: [LoggedCommit] = []
      var last: Int64 = 0
      while true {
        let rows = try work.log.rows(after: last, limit: 500)
        guard let end = rows.last else { return commits }
        last = end.seq
        for row in rows where try work.log.body(seq: row.seq) != nil {
          commits.append((row.id, try work.log.commit(row), row.isBeside))
        }
      }
    }
  }

  /// A pack of the last commits, and the name of its record; nil if there are none.
  package func packOfLast(_ count: Int) throws(ChangesetError) -> (name: String, bytes: [UInt8])? {
    try read { (work) throws(ChangesetError) in
      let last = try work.connection.integer("SELECT max(seq) FROM changesets_log") ?? 0
      var pack = Pack()
      for row in try work.log.rows(after: last - Int64(count), limit: Int64(count)) {
        guard let body = try work.log.body(seq: row.seq) else { continue }
        let schema = try work.dictionaries.schema(number: row.schema)
        if !pack.schemas.contains(where: { $0.id == schema.id }) { pack.schemas.append(schema) }
        let header = try work.log.header(row: row)
        pack.entries.append(Pack.Entry(id: row.id, header: header, body: body))
      }
      if pack.entries.isEmpty { return nil }
      let bytes = pack.bytes
      return (Pack.name(of: bytes), bytes)
    }
  }

  /// The name of a record that holds these bytes.
  package static func packName(of bytes: [UInt8]) -> String { Pack.name(of: bytes) }

  /// Takes a record off the list of those that were refused; false if it is not on it.
  package func forgetRefused(_ name: String) throws(ChangesetError) -> Bool {
    try write { (work) throws(ChangesetError) in
      try PackIntake(work: work).forget(name: name)
      return work.connection.sqlite.changeCount > 0
    }
  }

  /// Takes a record of a pack in, as a fetch does.
  package func take(packNamed name: String, bytes: [UInt8]) throws(ChangesetError) {
    _ = try write { (work) throws(ChangesetError) in
      try PackIntake(work: work).take(name: name, .success(bytes))
    }
  }

  /// Takes all records of a zone in, as a copy does that begins with nothing.
  package func take(records: [Record]) throws(ChangesetError) {
    let page = ZonePage(records, assets: nil)
    try write { (work) throws(ChangesetError) in
      _ = try page.taken(by: work)
      _ = try HorizonAdoption(work: work).runTakingWaiting()
    }
  }

  /// The commit that the history begins with for everybody; nil if it was never squashed.
  package func horizon() throws(ChangesetError) -> Changeset? {
    try read { (work) throws(ChangesetError) in
      try Horizon(work.connection)
        .map { (horizon) throws(ChangesetError) in try work.changeset(row: horizon.row) }
    }
  }
}
