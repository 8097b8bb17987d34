import CloudSyncChangesets
import CloudSyncSQLite
import Testing

/// Undo and redo beside reverts, which are steps like any other.
@Suite struct UndoTests {
  private static func pair() throws -> (HistoryBench, HistoryBench) {
    let one = try HistoryBench(replica: "desk")
    let other = try HistoryBench(replica: "phone")
    try one.commit("INSERT INTO people(id, score) VALUES('a', 1)")
    try one.commit("UPDATE people SET score = 2")
    try other.sync(from: one)
    return (one, other)
  }

  @Test func aRevertIsAStepThatUndoTakesBackAndRedoDoesNot() throws {
    let (_, phone) = try Self.pair()
    let score = { try phone.rows("SELECT score FROM people") }
    try phone.repository.revert("HEAD")
    #expect(try score() == ["1"])
    try phone.repository.revert("HEAD")
    #expect(try score() == ["2"])

    #expect(try phone.repository.redo() == nil)
    #expect(try score() == ["2"])
    #expect(try phone.repository.undo() != nil)
    #expect(try score() == ["1"])
    #expect(try phone.repository.undo() != nil)
    #expect(try score() == ["2"])
    #expect(try phone.repository.undo() == nil)
    #expect(try phone.repository.redo() != nil)
    #expect(try score() == ["1"])
    #expect(try phone.repository.redo() != nil)
    #expect(try score() == ["2"])
    #expect(try phone.repository.redo() == nil)
    #expect(try phone.repository.verify().problems == [])
  }

  @Test func anOwnCommitThatWasRevertedIsNotRedone() throws {
    let (desk, _) = try Self.pair()
    let score = { try desk.rows("SELECT score FROM people") }
    try desk.repository.revert("HEAD")
    #expect(try desk.repository.redo() == nil)
    #expect(try score() == ["1"])
    // The revert first, then what it had taken back.
    #expect(try desk.repository.undo() != nil)
    #expect(try score() == ["2"])
    #expect(try desk.repository.undo() != nil)
    #expect(try score() == ["1"])
    for expected in ["2", "1"] {
      #expect(try desk.repository.redo() != nil)
      #expect(try score() == [expected])
    }
  }

  @Test func undoneAndRedoneAgainAndAgainIsWhatItWas() throws {
    let (desk, _) = try Self.pair()
    let score = { try desk.rows("SELECT score FROM people") }
    for _ in 0..<3 {
      #expect(try desk.repository.undo() != nil)
      #expect(try score() == ["1"])
      #expect(try desk.repository.redo() != nil)
      #expect(try score() == ["2"])
    }
    #expect(try desk.repository.redo() == nil)
  }

  // MARK: What others have written beside a step

  @Test func whatAnotherReplicaWroteBesideAStepIsNotUndoneWithIt() throws {
    let (desk, phone) = try Self.pair()
    let score = { try desk.rows("SELECT score FROM people") }
    try phone.commit("UPDATE people SET score = 7")
    desk.pass(seconds: 9)
    try desk.commit("UPDATE people SET score = 9, name = 'Ada'")
    try desk.sync(from: phone)
    #expect(try score() == ["9"])

    #expect(try desk.repository.undo() != nil)
    #expect(try desk.rows("SELECT score, name FROM people") == ["7, NULL"])
    #expect(try desk.repository.redo() != nil)
    #expect(try desk.rows("SELECT score, name FROM people") == ["9, 'Ada'"])
    #expect(try desk.repository.undo() != nil)
    #expect(try score() == ["7"])
    try HistoryBench.settle([desk, phone])
    try HistoryBench.expectEqual([desk, phone])
    #expect(try desk.repository.verify().problems == [])
  }

  @Test func whatBothReplicasWroteStaysWhenOneUndoesIt() throws {
    let (desk, phone) = try Self.pair()
    try phone.commit("UPDATE people SET score = 5")
    try phone.commit("INSERT INTO people(id, name, score) VALUES('b', 'Bea', 1)")
    desk.pass(seconds: 9)
    try desk.commit(
      "UPDATE people SET score = 5; INSERT INTO people(id, name, note) VALUES('b', 'Bob', 'n')"
    )
    try desk.sync(from: phone)

    #expect(try desk.repository.undo() != nil)
    let rows = try desk.rows("SELECT id, name, score, note FROM people ORDER BY id")
    #expect(rows == ["'a', NULL, 5, NULL", "'b', 'Bea', 1, NULL"])
  }

  @Test func anOwnEarlierStepStaysThatIsLaterThanWhatOthersWrote() throws {
    let (desk, phone) = try Self.pair()
    let score = { try desk.rows("SELECT score FROM people") }
    try phone.commit("UPDATE people SET score = 7")
    desk.pass(seconds: 9)
    try desk.commit("UPDATE people SET score = 3")
    try desk.commit("UPDATE people SET score = 9")
    try desk.sync(from: phone)

    #expect(try desk.repository.undo() != nil)
    #expect(try score() == ["3"])
    #expect(try desk.repository.undo() != nil)
    #expect(try score() == ["7"])
  }

  @Test func ofSeveralOthersTheLatestValueComesBack() throws {
    let (desk, phone) = try Self.pair()
    let pad = try HistoryBench(replica: "pad")
    try pad.sync(from: desk)
    try phone.commit("UPDATE people SET score = 7, note = 'phone'")
    pad.pass(seconds: 5)
    try pad.commit("UPDATE people SET score = 8")
    desk.pass(seconds: 9)
    try desk.commit("UPDATE people SET score = 9")
    try desk.sync(from: pad)
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT score, note FROM people") == ["9, 'phone'"])

    #expect(try desk.repository.undo() != nil)
    #expect(try desk.rows("SELECT score, note FROM people") == ["8, 'phone'"])
  }

  @Test func whatIsCountedHasBothSidesWithoutAnyHelp() throws {
    let settings = ["people": ChangesetOptions.Table(merging: .init(columns: ["score": .counter]))]
    let desk = try HistoryBench(replica: "desk", settings: settings)
    let phone = try HistoryBench(replica: "phone", settings: settings)
    try desk.commit("INSERT INTO people(id, score) VALUES('a', 5)")
    try phone.sync(from: desk)
    try phone.commit("UPDATE people SET score = score + 2")
    try desk.commit("UPDATE people SET score = score + 1")
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT score FROM people") == ["8"])
    #expect(try desk.repository.undo() != nil)
    #expect(try desk.rows("SELECT score FROM people") == ["7"])
  }
}
