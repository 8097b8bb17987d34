import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

/// Replicas that go on from before a squash.
@Suite struct RebaseTests {
  /// A desk that has squashed its history while a phone was silent for a hundred days.
  private static func silence(
    _ work: (SquashBench) async throws -> Void
  ) async throws -> (desk: SquashBench, phone: SquashBench) {
    let (desk, phone) = try await SquashBench.pair()
    try await work(phone)
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try desk.bench.commit(
      "UPDATE people SET name = 'Desk' WHERE id = 'p2'; DELETE FROM people WHERE id = 'p3'"
    )
    try await desk.remote.sync()
    return (desk, phone)
  }

  @Test func aSilentReplicaKeepsItsEdits() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Phone', note = 'n' WHERE id = 'p2'")
      try phone.bench.commit(
        "INSERT INTO people(id, name) VALUES('q', 'Mine'); DELETE FROM people WHERE id = 'p4'"
      )
      try phone.bench.commit("UPDATE people SET note = 'kept' WHERE id = 'p3'")
    }
    let summary = try await desk.remote.squash(depth: 1)
    #expect(summary.waitingFor == [] && summary.removedRecords > 8)
    phone.bench.pass(seconds: 101 * SquashBench.day)
    try phone.bench.database.execute("UPDATE people SET score = 3 WHERE id = 'p5'")
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(await SquashBench.code { try await phone.remote.push() } == .behindHorizon)
    // What a rebase needs cannot be removed before it.
    #expect(await SquashBench.code { try phone.repository.gc(depth: 0) } == .behindHorizon)
    // Nothing is merged that the others cannot have.
    #expect(try phone.rows("SELECT name FROM people WHERE id = 'p2'") == ["'Phone'"])
    #expect(try await phone.remote.rebase().count == 1)
    #expect(try await phone.remote.rebase() == [])
    try await SquashBench.settle([desk, phone])
    // Its edits are there; of two edits of one cell the later counts, and the other is listed.
    #expect(
      try desk.rows(
        "SELECT id, name, note FROM people WHERE id IN ('p2', 'q', 'p4', 'p3') ORDER BY id"
      )
        == ["'p2', 'Desk', 'n'", "'p3', NULL, 'kept'", "'q', 'Mine', NULL"]
    )
    #expect(try desk.rows("SELECT score, note FROM people WHERE id = 'p5'") == ["3, 'seen'"])
    #expect(try desk.repository.conflicts().contains { $0.key == [.string("p2")] })
    try await desk.expectClone()
  }

  @Test func aSilentReplicaWithoutEditsGoesAlong() async throws {
    let (desk, phone) = try await Self.silence { _ in }
    try await desk.remote.squash(depth: 1)
    try await phone.remote.sync()
    try await SquashBench.settle([desk, phone])
    #expect(try phone.repository.log().count < desk.repository.log().count)
  }

  @Test func aLatePackFromBelowIsRefusedEverywhere() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Late' WHERE id = 'p1'")
    }
    try await desk.remote.squash(depth: 1)
    // The phone sends before it has heard of anything.
    try await phone.remote.push()
    #expect(try await desk.remote.sync().received == 0)
    #expect(try desk.repository.status().refused.count == 1)
    try HistoryBench.expectEqual([desk.bench])
    try await desk.expectClone()
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Late'"])
  }

  @Test func whatWasMergedBeforeTheSquashWasHeardOfIsNoLoss() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Late' WHERE id = 'p1'")
    }
    let tablet = try SquashBench(desk.cloud, "tablet")
    try await tablet.remote.sync()
    // The tablet gets the phone's commit and merges it, and then hears that the desk has squashed.
    try await phone.remote.push()
    try await tablet.remote.sync()
    #expect(try tablet.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Late'"])
    try await desk.remote.sync()
    let before = try desk.repository.head()
    #expect(try tablet.repository.head() == before)
    try await desk.remote.squash(depth: 1)
    try await SquashBench.settle([desk, tablet, phone])
  }

  @Test func aReplicaThatHasRemovedOldChangesComesAlongToo() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Phone' WHERE id = 'p4'")
      #expect(try phone.repository.gc(depth: 1).commits > 3)
    }
    try await desk.remote.squash(depth: 1)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    try await phone.remote.rebase()
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p4'") == ["'Phone'"])
  }

  @Test(arguments: [false, true])
  func whatARebaseNeedsAndWasRemovedHereIsFetchedAgain(bySync: Bool) async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'First' WHERE id = 'p4'")
      try phone.bench.commit("UPDATE people SET name = 'Second' WHERE id = 'p5'")
    }
    try await desk.remote.squash(depth: 1)
    // It has not heard of that when it sends its commits, and removes their changes.
    try await phone.remote.push()
    #expect(try phone.repository.gc(depth: 0).commits > 3)
    if bySync {
      try await desk.remote.rebaseOthers()
      try await desk.remote.sync()
      try await phone.remote.sync()
    } else {
      #expect(try await phone.remote.rebase().count == 1)
    }
    try await SquashBench.settle([desk, phone])
    #expect(
      try desk.rows("SELECT name FROM people WHERE id IN ('p4', 'p5') ORDER BY id")
        == ["'First'", "'Second'"]
    )
    #expect(try phone.repository.verify().problems == [])
    try await desk.expectClone()
  }

  @Test func nobodyElseWaitsForALatePackOrIsBehindWithIt() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Late' WHERE id = 'p1'")
    }
    // The tablet gets the first of two commits together with the news of the squash, and the second after that.
    let tablet = try SquashBench(desk.cloud, "tablet")
    try await tablet.remote.fetch()
    try await desk.remote.squash(depth: 1)
    try await phone.remote.push()
    try await tablet.remote.sync()
    try phone.bench.commit("UPDATE people SET name = 'Later' WHERE id = 'p1'")
    try await phone.remote.push()
    let (copy, _) = try await desk.clone()
    try await tablet.remote.sync()
    for repository in [copy, tablet.repository] {
      let status = try repository.status()
      #expect(status.waitingCount == 0 && status.behindCount == 0)
      #expect(try repository.head().id == desk.repository.head().id)
    }
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone, tablet])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Later'"])
  }

  @Test func whatLosesAllThatItHasIsListed() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Phone' WHERE id = 'p2'")
    }
    try await desk.remote.squash(depth: 1)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p2'") == ["'Desk'"])
    let lost = try desk.repository.conflicts().flatMap(\.lost)
    #expect(lost.map(\.value) == [.string("Phone")])
    try await desk.expectClone()
  }

  @Test func whoLooksAtAnOlderCommitIsNotStopped() async throws {
    let (desk, phone) = try await Self.silence { phone in
      try phone.bench.commit("UPDATE people SET name = 'Late' WHERE id = 'p1'")
    }
    try phone.repository.checkout("HEAD~1")
    try await desk.remote.squash(depth: 1)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().count == 1)
    #expect(try phone.repository.head().isDetached)
    try phone.repository.switchBranch("main")
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Late'"])
  }

  @Test func whatTwoBranchesHaveInCommonIsPutOnTopOnce() async throws {
    let (desk, phone) = try await Self.counting()
    try phone.bench.commit("UPDATE people SET score = score + 3 WHERE id = 'p2'")
    try phone.repository.createBranch("idea")
    try phone.repository.switchBranch("idea")
    try phone.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p2'")
    try phone.repository.switchBranch("main")
    try phone.bench.commit("UPDATE people SET note = 'main', score = score + 1 WHERE id = 'p2'")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try desk.bench.commit("UPDATE people SET score = score + 10 WHERE id = 'p2'")
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 1)
    phone.bench.pass(seconds: 101 * SquashBench.day)

    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    // What both have in common, and what each has besides.
    #expect(try await phone.remote.rebase().count == 3)
    try phone.repository.merge("idea")
    try phone.repository.pull()
    try await SquashBench.settle([desk, phone])
    #expect(
      try desk.rows("SELECT name, score, note FROM people WHERE id = 'p2'") == [
        "'Idea', 14, 'main'"
      ]
    )
    try await desk.expectClone()
  }

  /// A desk and a phone whose scores are added up.
  private static func counting() async throws -> (desk: SquashBench, phone: SquashBench) {
    var rules = ChangesetOptions.Table()
    rules.merging.columns["score"] = .counter
    let cloud = LocalCloud()
    let desk = try SquashBench(cloud, "desk", settings: ["people": rules])
    let phone = try SquashBench(cloud, "phone", settings: ["people": rules])
    try await desk.fill(1...5)
    try await phone.remote.sync()
    return (desk, phone)
  }

  private static let add = "UPDATE people SET score = score + "

  /// The desk goes on for long, and squashes; the phone comes after that.
  private static func squash(_ desk: SquashBench, before phone: SquashBench) async throws {
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 1)
    phone.bench.pass(seconds: 101 * SquashBench.day)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
  }

  @Test func whatABranchHasMergedIsNotAddedTwice() async throws {
    let (desk, phone) = try await Self.counting()
    try phone.repository.createBranch("idea")
    try phone.bench.commit(Self.add + "3 WHERE id = 'p2'")
    try phone.repository.switchBranch("idea")
    // The branch's own line goes before: it has more.
    try phone.bench.commit(
      "UPDATE people SET name = 'Idea', note = 'n' WHERE id IN ('p2', 'p3', 'p4')"
    )
    try phone.repository.merge("main")
    try phone.repository.pull()
    try phone.repository.switchBranch("main")
    try phone.bench.commit(Self.add + "1 WHERE id = 'p2'")
    try await Self.squash(desk, before: phone)

    try await phone.remote.rebase()
    try phone.repository.merge("idea")
    try phone.repository.pull()
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name, score FROM people WHERE id = 'p2'") == ["'Idea', 4"])
    try await desk.expectClone()
  }

  @Test func whatHadComeFromTheOthersIsNotAddedTwice() async throws {
    let (desk, phone) = try await Self.counting()
    try desk.bench.commit(Self.add + "10 WHERE id = 'p2'")
    try await desk.remote.sync()
    // The phone merges what the desk has added into its own line, which has more.
    try phone.bench.commit(
      Self.add + "1 WHERE id IN ('p2', 'p3', 'p4'); UPDATE people SET note = 'p' WHERE id = 'p2'"
    )
    try await phone.remote.fetch()
    try phone.repository.mergeAll()
    try phone.repository.pull()
    try await Self.squash(desk, before: phone)

    try await phone.remote.rebase()
    try await SquashBench.settle([desk, phone])
    let rows = try desk.rows("SELECT id, score FROM people WHERE id IN ('p2', 'p3') ORDER BY id")
    #expect(rows == ["'p2', 11", "'p3', 1"])
    try await desk.expectClone()
  }

  @Test func anAppsOwnTablesAreRebasedOntoASquashedHistory() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...6)
    try await desk.remote.squash(depth: 2)
    let phone = try SquashBench(desk.cloud, "phone")
    try phone.bench.commit("INSERT INTO people(id, name) VALUES('own', 'Own')")
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    try await phone.remote.rebase()
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT count(*) FROM people") == ["7"])
  }
}

extension SquashBench {
  func rows(_ sql: String) throws -> [String] { try bench.rows(sql) }
}
