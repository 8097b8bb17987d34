import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

extension HistoryBench {
  /// Brings all commits here that another replica has, without a cloud.
  func take(from other: HistoryBench) throws {
    let packs = try other.repository.read { (work) throws(ChangesetError) in
      var packs: [Pack] = []
      var last: Int64 = 0
      while true {
        let rows = try work.log.rows(after: last, limit: 100)
        guard let end = rows.last else { return packs }
        last = end.seq
        var pack = Pack()
        for row in rows {
          let schema = try work.dictionaries.schema(number: row.schema)
          if !pack.schemas.contains(schema) { pack.schemas.append(schema) }
          let body = try work.log.body(seq: row.seq) ?? []
          pack.entries.append(
            Pack.Entry(id: row.id, header: try work.log.header(row: row), body: body)
          )
        }
        packs.append(pack)
      }
    }
    for pack in packs {
      let read = try Pack(pack.bytes)
      #expect(read == pack)
      try repository.write { (work) throws(ChangesetError) in
        _ = try Intake(work: work).take(pack: read)
      }
    }
  }

  /// Fetches from another, merges, and goes to the merge.
  func sync(from others: HistoryBench...) throws {
    for other in others { try take(from: other) }
    try repository.mergeAll()
    try repository.pull()
  }

  /// Makes all equal, as far as exchanging does.
  static func settle(_ benches: [HistoryBench]) throws {
    for _ in 0..<6 {
      for bench in benches {
        for other in benches where other !== bench { try bench.take(from: other) }
        try bench.repository.mergeAll()
        try bench.repository.pull()
      }
      if Set(try benches.map { try $0.repository.head().id }).count == 1 { return }
    }
  }

  /// Changes the tables as an app does that names a migration, or without a word, which a rescan then takes up.
  func change(_ sql: String, migrates: Bool) throws {
    if migrates {
      try ChangesetRepository.migrate(database, options: Self.options()) {
        try SQLiteConnection(borrowing: $0).execute(sql)
      }
    } else {
      try database.execute(sql)
      try rescan()
    }
  }

  /// Takes up what was done to the tables without the history.
  func rescan() throws { try ChangesetRepository.rescan(database, options: Self.options()) }

  /// That all are at one commit, and each is what its history says.
  static func expectAgreement(
    _ benches: [HistoryBench],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let heads = Set(try benches.map { try $0.repository.head().id })
    #expect(heads.count == 1, sourceLocation: sourceLocation)
    for bench in benches {
      #expect(try bench.repository.verify().problems == [], sourceLocation: sourceLocation)
      #expect(try bench.repository.status().isClean, sourceLocation: sourceLocation)
      try bench.repository.rescan()
      #expect(try bench.repository.status().isClean, sourceLocation: sourceLocation)
      #expect(try bench.repository.verify().problems == [], sourceLocation: sourceLocation)
    }
  }

  /// That all have the same head and rows, and that these are what the history says.
  static func expectEqual(
    _ benches: [HistoryBench],
    _ query: String = "SELECT * FROM people ORDER BY id",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let heads = Set(try benches.map { try $0.repository.head().id })
    #expect(heads.count == 1, sourceLocation: sourceLocation)
    let rows = Set(try benches.map { try $0.rows(query) })
    #expect(rows.count == 1, sourceLocation: sourceLocation)
    for bench in benches {
      #expect(try bench.repository.verify().problems == [], sourceLocation: sourceLocation)
      #expect(try bench.repository.status().isClean, sourceLocation: sourceLocation)
    }
  }
}
