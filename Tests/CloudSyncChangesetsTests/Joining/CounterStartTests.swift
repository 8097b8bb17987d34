import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import Testing

/// A number that is added up, of a row that two replicas bring back or make each for itself: what it began with is one number.
@Suite struct CounterStartTests {
  private static var settings: [String: ChangesetOptions.Table] {
    var rules = ChangesetOptions.Table()
    rules.merging.columns = ["score": .counter]
    return ["people": rules]
  }

  /// Replicas that have seen a row with a number come and go; gives who has deleted it.
  private static func benches(_ names: [String]) throws -> (all: [HistoryBench], end: Changeset) {
    let benches = try names.map { try HistoryBench(replica: $0, settings: settings) }
    try benches[0].commit("INSERT INTO people(id, score) VALUES('a', 5)")
    let end = try #require(try benches[0].commit("DELETE FROM people"))
    for bench in benches.dropFirst() { try bench.sync(from: benches[0]) }
    return (benches, end)
  }

  private static let rows = "SELECT id, score FROM people WHERE id = 'a'"

  @Test(arguments: [true, false])
  func whatTwoBringBackCountsOnce(isDeskFuller: Bool) throws {
    let (benches, end) = try Self.benches(["desk", "phone"])
    for (bench, amount) in zip(benches, [2, 3]) {
      bench.pass(seconds: 10)
      try bench.repository.revert(Revision(end.id))
      try bench.commit("UPDATE people SET score = score + \(amount)")
    }
    // Of the side with fewer changes a merge has the row as an insertion, or as a change.
    try benches[isDeskFuller ? 0 : 1].commit("INSERT INTO people(id) VALUES('b'), ('c')")
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    #expect(try benches[0].rows(Self.rows) == ["'a', 10"])
  }

  @Test func whoHasOnlyBroughtItBackAddsNothing() throws {
    let (benches, end) = try Self.benches(["desk", "phone"])
    for bench in benches { try bench.repository.revert(Revision(end.id)) }
    try benches[1].commit("UPDATE people SET score = score + 2")
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    #expect(try benches[0].rows(Self.rows) == ["'a', 7"])
  }

  @Test func equalAdditionsAreTwoToo() throws {
    let (benches, end) = try Self.benches(["desk", "phone"])
    for bench in benches {
      try bench.repository.revert(Revision(end.id))
      try bench.commit("UPDATE people SET score = score + 2")
    }
    try HistoryBench.settle(benches)
    #expect(try benches[0].rows(Self.rows) == ["'a', 9"])
  }

  @Test func theSameHoldsOfARowThatIsMadeAnew() throws {
    let (benches, _) = try Self.benches(["desk", "phone"])
    for (bench, amount) in zip(benches, [2, 3]) {
      try bench.commit("INSERT INTO people(id, score) VALUES('a', 1)")
      try bench.commit("UPDATE people SET score = score + \(amount)")
    }
    try HistoryBench.settle(benches)
    #expect(try benches[0].rows(Self.rows) == ["'a', 6"])
  }

  /// Nobody can tell what of two unlike numbers is a beginning: nothing is lost then.
  @Test func unlikeBeginningsAreAddedUp() throws {
    let (benches, _) = try Self.benches(["desk", "phone"])
    for (bench, number) in zip(benches, [4, 6]) {
      try bench.commit("INSERT INTO people(id, score) VALUES('a', \(number))")
    }
    try HistoryBench.settle(benches)
    #expect(try benches[0].rows(Self.rows) == ["'a', 10"])
  }

  /// The merge has the row of its second side, with the number as it is by then.
  @Test func aRowThatAMergeHasBroughtBeganWhereItWasInserted() throws {
    let (benches, end) = try Self.benches(["desk", "phone", "tablet"])
    let (desk, phone, tablet) = (benches[0], benches[1], benches[2])
    try desk.repository.revert(Revision(end.id))
    try desk.commit("UPDATE people SET score = score + 2")
    try tablet.commit("INSERT INTO people(id, name, note) VALUES('x', 'X', 'n'), ('y', 'Y', 'n')")
    try tablet.sync(from: desk)
    let merge = try #require(try tablet.repository.log(LogQuery(count: 1)).first)
    #expect(merge.kind == .merge)
    try phone.repository.revert(Revision(end.id))
    try phone.commit("UPDATE people SET score = score + 3")
    try HistoryBench.settle([tablet, phone])
    try HistoryBench.expectEqual([tablet, phone])
    #expect(try phone.rows(Self.rows) == ["'a', 10"])
  }
}
