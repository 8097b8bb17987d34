import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Foundation
import Testing

@testable import CloudSyncChangesets

/// The database's file on a second machine: both go on.
@Suite struct CopiedFileTests {
  /// A machine that opens a file of the folder.
  private struct Machine {
    let database: DatabaseFile
    let repository: ChangesetRepository
    let remote: ChangesetRemote

    init(_ path: String, _ cloud: LocalCloud, nonce: UInt64, replica: String? = nil) throws {
      database = try DatabaseFile(path: path, createsFile: true)
      try database.execute(
        "CREATE TABLE IF NOT EXISTS people(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
      )
      var options = HistoryBench.options()
      options.replica = replica
      options.environment.nonce = { nonce }
      repository = try ChangesetRepository(database, options: options)
      remote = try ChangesetRemote(
        repository,
        operationHandler: RemoteBench.handler(cloud, device: "machine \(nonce)"),
        zoneID: RemoteBench.zone
      )
    }

    func commit(_ sql: String) throws -> Changeset? {
      try database.execute(sql)
      return try repository.commit()
    }
  }

  private static func copy(_ folder: ScratchFolder, _ machine: Machine) throws -> String {
    let path = folder.file("copy.db")
    try machine.database.write { handle in
      let target = try SQLiteConnection(path: path, access: .create)
      try SQLiteConnection(borrowing: handle).copy(to: target)
    }
    return path
  }

  @Test(arguments: [nil, "given"])
  func bothCopiesKeepTheirCommitsAndTakeBackTheirOwn(name: String?) async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1, replica: name)
    let first = try one.commit("INSERT INTO people VALUES('a', 'Ada')")
    try await one.remote.sync()
    let other = try Machine(try Self.copy(folder, one), cloud, nonce: 2, replica: name)
    _ = try one.commit("INSERT INTO people VALUES('b', 'Bob')")
    let before = try other.commit("INSERT INTO people VALUES('c', 'Cy')")
    #expect(before?.replica == first?.replica)
    for machine in [one, other, one, other] { try await machine.remote.sync() }
    for machine in [one, other] {
      #expect(
        try machine.database.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'", "'c'"]
      )
      #expect(try machine.repository.verify().problems == [])
    }
    #expect(try one.repository.head() == other.repository.head())
    let mine = try one.commit("UPDATE people SET name = 'One' WHERE id = 'a'")
    let theirs = try other.commit("UPDATE people SET name = 'Other' WHERE id = 'b'")
    for machine in [one, other, one, other] { try await machine.remote.sync() }
    guard name == nil else {
      // What the app calls both it keeps.
      #expect(mine?.replica == "given" && theirs?.replica == "given")
      return
    }
    #expect(Set([first, mine, theirs].map { $0?.replica }).count == 3)
    // The names stay: own commits that come by once more are known.
    let names = try [one, other]
      .map { machine in
        try machine.repository.read { (work) throws(ChangesetError) in try work.replica() }
      }
    #expect(names == [mine?.replica, theirs?.replica])
    // Each takes its own edit back, though the other's is there too.
    #expect(try one.repository.undo()?.reverts == mine?.id)
    #expect(try other.repository.undo()?.reverts == theirs?.id)
  }

  @Test func eachCopyTakesBackWhatItDidUnderTheNameThatBothHad() async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1)
    let first = try one.commit("INSERT INTO people VALUES('a', 'Ada')")
    try await one.remote.sync()
    let other = try Machine(try Self.copy(folder, one), cloud, nonce: 2)
    let mine = try one.commit("INSERT INTO people VALUES('b', 'Bob')")
    let theirs = try other.commit("INSERT INTO people VALUES('c', 'Cy')")
    for machine in [one, other, one, other] { try await machine.remote.sync() }
    #expect(try other.repository.undo()?.reverts == theirs?.id)
    #expect(try one.repository.undo()?.reverts == mine?.id)
    #expect(try one.repository.redo()?.reverts != nil)
    #expect(try one.repository.undo() != nil)
    #expect(try one.repository.undo()?.reverts == first?.id)
    for machine in [one, other, one, other] { try await machine.remote.sync() }
    #expect(try other.database.rows("SELECT * FROM people") == [])
  }

  /// A name that nobody has any more is not waited for; one that somebody may have is.
  @Test(arguments: [true, false])
  func aSquashDoesNotWaitForTheNameThatBothHaveGivenUp(isHeardOf: Bool) async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1)
    for number in 1...6 { _ = try one.commit("INSERT INTO people VALUES('\(number)', 'Ada')") }
    try await one.remote.sync()
    let other = try Machine(try Self.copy(folder, one), cloud, nonce: 2)
    let former = try one.commit("INSERT INTO people VALUES('b', 'Bob')")?.replica
    _ = try other.commit("INSERT INTO people VALUES('c', 'Cy')")
    for machine in [one, other, one] { try await machine.remote.sync() }
    _ = try one.commit("INSERT INTO people VALUES('d', 'Dee')")
    try await one.remote.sync()
    var summary = try await one.remote.squash(depth: 2)
    #expect(summary.beginning == nil && summary.waitingFor.contains(former ?? ""))
    if isHeardOf { for machine in [other, one] { try await machine.remote.sync() } }
    summary = try await one.remote.squash(depth: 2)
    #expect((summary.beginning != nil) == isHeardOf)
    #expect(summary.waitingFor.isEmpty == isHeardOf)
    try await other.remote.sync()
    try await one.remote.sync()
    for machine in [one, other] {
      #expect(try machine.database.rows("SELECT count(*) FROM people") == ["9"])
      #expect(try machine.repository.verify().problems == [])
    }
  }

  /// One has committed under it and was not heard of since; that two others have taken other names says nothing of it.
  @Test func aSquashWaitsForACopyThatStillHasTheName() async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1)
    for number in 1...6 { _ = try one.commit("INSERT INTO people VALUES('\(number)', 'Ada')") }
    try await one.remote.sync()
    let path = try Self.copy(folder, one)
    let third = folder.file("third.db")
    try FileManager.default.copyItem(atPath: path, toPath: third)
    let others = [
      try Machine(path, cloud, nonce: 2), try Machine(third, cloud, nonce: 3),
    ]
    let name = try one.commit("INSERT INTO people VALUES('b', 'Bob')")?.replica
    try await one.remote.push()
    _ = try others[0].commit("INSERT INTO people VALUES('c', 'Cy')")
    for _ in 0..<3 { for machine in others { try await machine.remote.sync() } }
    var summary = SquashSummary()
    for _ in 0..<3 {
      summary = try await others[0].remote.squash(depth: 1)
      for machine in others { try await machine.remote.sync() }
    }
    #expect(summary.waitingFor == [name])
    // It is heard of under another name, too.
    for machine in [one, others[0], one] { try await machine.remote.sync() }
    summary = try await others[0].remote.squash(depth: 1)
    #expect(summary.waitingFor == [] && summary.beginning != nil)
    for machine in [one] + others {
      try await machine.remote.sync()
      #expect(try machine.database.rows("SELECT count(*) FROM people") == ["8"])
      #expect(try machine.repository.verify().problems == [])
      #expect(try ChangesetRepository.unpushedCount(in: machine.database) == 0)
    }
  }

  /// A clock behind the history gives both copies the same next time; only what they do alike is one commit then.
  @Test(arguments: [nil, "given"])
  func copiesWhoseClocksAreBehindForkLikeOthers(name: String?) async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1, replica: name)
    _ = try one.commit("INSERT INTO people VALUES('a', 'Ada'), ('b', 'Bob')")
    try await one.remote.sync()
    let other = try Machine(try Self.copy(folder, one), cloud, nonce: 2, replica: name)
    let alike = "UPDATE people SET name = 'Ida' WHERE id = 'a'"
    let (mine, theirs) = (try one.commit(alike), try other.commit(alike))
    #expect(mine?.id == theirs?.id && mine != nil)
    let (second, unlike) = (
      try one.commit("UPDATE people SET name = 'One' WHERE id = 'b'"),
      try other.commit("UPDATE people SET name = 'Other' WHERE id = 'b'")
    )
    #expect(second?.time == unlike?.time && second?.id != unlike?.id)
    for machine in [one, other, one, other] { try await machine.remote.sync() }
    #expect(try one.repository.head() == other.repository.head())
    let rows = try [one, other]
      .map { try $0.database.rows("SELECT name FROM people ORDER BY id") }
    #expect(rows[0] == rows[1] && rows[0].first == "'Ida'")
    for machine in [one, other] {
      let status = try machine.repository.status()
      #expect(status.isClean && status.refused.isEmpty && status.waitingCount == 0)
      #expect(try machine.repository.verify().problems == [])
      // What lost is told.
      #expect(try machine.repository.conflicts().flatMap(\.lost).count == 1)
    }
    #expect(try one.repository.log().filter { $0.id == mine?.id }.count == 1)
  }

  @Test func aRestoredBackupGoesOnUnderAnotherNameAndGetsWhatItHadSent() async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1)
    _ = try one.commit("INSERT INTO people VALUES('a', 'Ada')")
    try await one.remote.sync()
    let backup = try Self.copy(folder, one)
    _ = try one.commit("INSERT INTO people VALUES('b', 'Bob')")
    try await one.remote.sync()
    let restored = try Machine(backup, cloud, nonce: 2)
    try await restored.remote.sync()
    #expect(try restored.repository.head() == one.repository.head())
    let commit = try restored.commit("DELETE FROM people WHERE id = 'a'")
    #expect(commit?.replica != nil)
    #expect(try restored.repository.log().dropFirst().allSatisfy { $0.replica != commit?.replica })
  }

  @Test func afterAResetOwnCommitsAreNobodyElses() async throws {
    let (folder, cloud) = (try ScratchFolder(), LocalCloud())
    let one = try Machine(folder.file("one.db"), cloud, nonce: 1)
    let first = try one.commit("INSERT INTO people VALUES('a', 'Ada')")
    try await one.remote.sync()
    try one.repository.reset()
    try await one.remote.sync()
    let later = try one.commit("INSERT INTO people VALUES('b', 'Bob')")
    #expect(later?.replica == first?.replica && later != nil)
  }
}
