import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("DatabaseSchema.parentsFirst")
struct TableOrderTests {
  @Test("Parents come before children, circles together, whatever the order given")
  func order() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE a (id PRIMARY KEY, x REFERENCES d);
      CREATE TABLE b (id PRIMARY KEY, x REFERENCES c, y REFERENCES z);
      CREATE TABLE c (id PRIMARY KEY, x REFERENCES B);
      CREATE TABLE d (id PRIMARY KEY, x REFERENCES b, y REFERENCES d, z REFERENCES e);
      CREATE TABLE e (id PRIMARY KEY);
      CREATE TABLE z (id PRIMARY KEY)
      """
    )
    let schema = try DatabaseSchema.read(connection)

    let order = schema.parentsFirst(["d", "a", "C", "z", "b", "nothing"])

    #expect(order == [["z"], ["b", "c"], ["d"], ["a"]])
    #expect(schema.parentsFirst(["z", "b", "a", "c", "d"]) == order)
  }
}
