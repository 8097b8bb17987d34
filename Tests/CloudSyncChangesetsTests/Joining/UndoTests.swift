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
}
