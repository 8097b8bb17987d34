import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import Testing

/// What merges have lost comes back where the tables take it, and is listed as long as it is lost.
@Suite struct RestoringTests {
  private static let library = """
    CREATE TABLE shelves(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE);
    CREATE TABLE books(
      id TEXT PRIMARY KEY NOT NULL, title TEXT,
      shelf TEXT REFERENCES shelves(id) ON DELETE SET NULL,
      place TEXT REFERENCES shelves(name));
    """

  private static func pair(_ schema: String, _ sql: String) throws -> (HistoryBench, HistoryBench) {
    let desk = try HistoryBench(schema, replica: "desk")
    let phone = try HistoryBench(schema, replica: "phone")
    try desk.commit(sql)
    try phone.sync(from: desk)
    return (desk, phone)
  }

  private static func expectWhole(_ bench: HistoryBench) throws {
    #expect(try bench.rows("PRAGMA foreign_key_check") == [])
    #expect(try bench.repository.verify().problems == [])
    #expect(try bench.repository.status().isClean)
  }

  // MARK: References

  @Test(arguments: [true, false])
  func aReferenceToARowThatIsGoneDoesNotComeBack(enforces: Bool) throws {
    let (desk, phone) = try Self.pair(Self.library, "INSERT INTO shelves VALUES('s', 'Old')")
    if enforces { try desk.database.execute("PRAGMA foreign_keys = ON") }
    try phone.commit("DELETE FROM shelves")
    try desk.commit("INSERT INTO books(id, title, shelf) VALUES('b', 'B', 's')")
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT id, shelf FROM books") == ["'b', NULL"])
    let conflict = try #require(try desk.repository.conflicts().first)

    let error = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict)
    }
    #expect(error?.code == .misuse)
    #expect(error?.reason.contains("\"shelves\"") == true)
    try Self.expectWhole(desk)
    #expect(try desk.repository.conflicts() == [conflict])
    try desk.commit("INSERT INTO shelves VALUES('s', 'New')")
    #expect(try desk.repository.restoreConflict(conflict) != nil)
    #expect(try desk.rows("SELECT id, shelf FROM books") == ["'b', 's'"])
    #expect(try desk.repository.conflicts() == [])
    try Self.expectWhole(desk)
  }

  @Test func aNameThatOthersReferToIsNotTakenFromThem() throws {
    let (desk, phone) = try Self.pair(Self.library, "INSERT INTO shelves VALUES('s', 'Old')")
    try phone.commit("UPDATE shelves SET name = 'Lower'")
    desk.pass(seconds: 60)
    try desk.commit("UPDATE shelves SET name = 'Upper'")
    try desk.commit("INSERT INTO books(id, place) VALUES('b', 'Upper')")
    try desk.sync(from: phone)
    let conflict = try #require(try desk.repository.conflicts().first { $0.kind == .cell })
    #expect(conflict.lost.map(\.value) == [.string("Lower")])

    let error = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict)
    }
    #expect(error?.reason.contains("\"books\"") == true)
    try Self.expectWhole(desk)
    try desk.commit("UPDATE books SET place = NULL")
    #expect(try desk.repository.restoreConflict(conflict) != nil)
    try Self.expectWhole(desk)
  }

  // MARK: Deletions

  private static let owned = """
    CREATE TABLE shelves(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE books(
      id TEXT PRIMARY KEY NOT NULL, shelf TEXT REFERENCES shelves(id) ON DELETE CASCADE);
    CREATE TABLE labels(id TEXT PRIMARY KEY NOT NULL, shelf TEXT REFERENCES shelves(id));
    """

  /// A shelf with a book, which one has deleted and the other has changed.
  private static func kept() throws -> (HistoryBench, HistoryBench) {
    let (desk, phone) = try pair(owned, "INSERT INTO shelves VALUES('s', 'Old')")
    try phone.commit("DELETE FROM shelves")
    try desk.commit("UPDATE shelves SET name = 'New'; INSERT INTO books VALUES('b', 's')")
    try HistoryBench.settle([desk, phone])
    #expect(try phone.rows("SELECT name FROM shelves") == ["'New'"])
    return (desk, phone)
  }

  @Test(arguments: [true, false])
  func aDeletionThatAMergeHasDroppedComesBack(enforces: Bool) throws {
    let (desk, phone) = try Self.kept()
    try phone.database.execute("PRAGMA foreign_keys = \(enforces ? "ON" : "OFF")")
    let conflict = try #require(try phone.repository.conflicts().first { $0.kind == .deletion })
    try phone.commit("INSERT INTO labels VALUES('l', 's')")
    let error = #expect(throws: ChangesetError.self) {
      try phone.repository.restoreConflict(conflict)
    }
    #expect(error?.code == .misuse && error?.reason.contains("FOREIGN KEY") == true)
    #expect(try phone.rows("SELECT id FROM shelves") == ["'s'"])
    try phone.commit("DELETE FROM labels")

    #expect(try phone.repository.restoreConflict(conflict) != nil)

    #expect(try phone.rows("SELECT id FROM shelves UNION SELECT id FROM books") == [])
    #expect(try phone.rows("PRAGMA foreign_keys") == [enforces ? "1" : "0"])
    #expect(try phone.repository.conflicts().contains { $0.kind == .deletion } == false)
    try Self.expectWhole(phone)
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT id FROM shelves UNION SELECT id FROM books") == [])
    #expect(try desk.repository.conflicts().contains { $0.kind == .deletion } == false)
    try phone.repository.undo()
    #expect(try phone.rows("SELECT name FROM shelves") == ["'New'"])
    #expect(try phone.repository.conflicts().contains(conflict))
  }

  @Test func aKeptRowThatIsDeletedAlreadyIsSettled() throws {
    let (_, phone) = try Self.kept()
    let conflict = try #require(try phone.repository.conflicts().first { $0.kind == .deletion })
    try phone.commit("DELETE FROM books; DELETE FROM shelves")
    #expect(try phone.repository.restoreConflict(conflict) == nil)
    #expect(try phone.repository.conflicts().contains { $0.kind == .deletion } == false)
  }

  // MARK: Unique values

  @Test func theErrorNamesWhatStandsInTheWay() throws {
    let (desk, phone) = try Self.pair(Self.library, "INSERT INTO shelves VALUES('s', 'Old')")
    try desk.commit("INSERT INTO shelves VALUES('x', 'Same')")
    phone.pass(seconds: 60)
    try phone.commit("INSERT INTO shelves VALUES('y', 'Same')")
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT id FROM shelves WHERE name IS NULL") == ["'x'"])
    let conflict = try #require(try desk.repository.conflicts().first)

    let unique = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict)
    }
    #expect(unique?.code == .misuse)
    #expect(unique?.reason.contains("UNIQUE constraint failed: shelves.name") == true)
    #expect(unique?.reason.contains("rescan") == false)
    let key = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict, key: [.string("new")])
    }
    #expect(key?.reason.contains("the row is in table \"shelves\"") == true)
    try Self.expectWhole(desk)
    try desk.commit("UPDATE shelves SET name = 'Other' WHERE id = 'y'")
    #expect(try desk.repository.restoreConflict(conflict) != nil)
    #expect(try desk.rows("SELECT id FROM shelves WHERE name = 'Same'") == ["'x'"])
  }

  // MARK: The list

  private static func contested() throws -> (HistoryBench, HistoryBench) {
    let (desk, phone) = try pair(HistoryBench.people, "INSERT INTO people(id) VALUES('a')")
    try desk.commit("UPDATE people SET name = 'desk'")
    phone.pass(seconds: 60)
    try phone.commit("UPDATE people SET name = 'phone'")
    try HistoryBench.settle([desk, phone])
    #expect(try desk.repository.conflicts().count == 1)
    #expect(try phone.repository.conflicts().count == 1)
    return (desk, phone)
  }

  @Test func whatAnotherReplicaHasPutBackIsLostNoMore() throws {
    let (desk, phone) = try Self.contested()
    let conflict = try #require(try desk.repository.conflicts().first)
    try desk.repository.restoreConflict(conflict)
    try phone.sync(from: desk)
    #expect(try phone.rows("SELECT name FROM people") == ["'desk'"])
    #expect(try phone.repository.conflicts() == [])
    // It was decided: a later edit does not bring it up again, here or there.
    try phone.commit("UPDATE people SET name = 'later'")
    try desk.sync(from: phone)
    #expect(try phone.repository.conflicts() == [])
    #expect(try desk.repository.conflicts() == [])
  }

  @Test func whatIsUndoneIsLostAgainAndRedoneItIsNot() throws {
    let (desk, phone) = try Self.contested()
    let conflict = try #require(try desk.repository.conflicts().first)
    try desk.repository.restoreConflict(conflict)
    for _ in 0..<2 {
      #expect(try desk.repository.undo() != nil)
      #expect(try desk.rows("SELECT name FROM people") == ["'phone'"])
      #expect(try desk.repository.conflicts() == [conflict])
      try phone.sync(from: desk)
      #expect(try phone.repository.conflicts() == [conflict])
      #expect(try desk.repository.redo() != nil)
      #expect(try desk.repository.conflicts() == [])
      try phone.sync(from: desk)
      #expect(try phone.repository.conflicts() == [])
    }
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func whatWasWrittenAgainByHandIsLostNoMore() throws {
    let (desk, phone) = try Self.contested()
    try phone.commit("UPDATE people SET name = 'desk'")
    #expect(try phone.repository.conflicts() == [])
    #expect(try desk.repository.conflicts().count == 1)
    try desk.sync(from: phone)
    #expect(try desk.repository.conflicts() == [])
  }

  @Test func decisionsOfOtherBranchesAreNotThisOnes() throws {
    let (desk, _) = try Self.pair(HistoryBench.people, "INSERT INTO people(id) VALUES('a')")
    try desk.repository.createBranch("idea")
    try desk.repository.switchBranch("idea")
    try desk.commit("UPDATE people SET name = 'x', score = 1")
    try desk.commit("UPDATE people SET score = 2")
    try desk.repository.revert("HEAD~1")
    #expect(try desk.repository.conflicts().count == 1)
    try desk.repository.switchBranch("main")
    #expect(try desk.repository.conflicts() == [])
    try desk.repository.merge("idea")
    try desk.repository.pull()
    #expect(try desk.repository.conflicts().count == 1)
  }

  @Test func theListNeedsNoWritableFile() throws {
    let folder = try ScratchFolder()
    let path = folder.file("shop.db")
    // A default is looked up for a merge that is asked about.
    _ = try HistoryBench(
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, score INTEGER DEFAULT 5)",
      path: path
    )
    let looking = try ChangesetRepository(DatabaseFile(path: path, access: .readOnly))
    #expect(try looking.conflicts() == [])
  }
}
