import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@testable import CloudSyncSQLite

@Suite("uuid()")
struct UUIDFunctionTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), title TEXT)
    """

  @Test("Plain inserts through a database file get a UUID of version 4 in small letters each")
  func databaseFile() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    try database.execute("INSERT INTO notes(title) VALUES('a'), ('b'), ('c')")

    let keys = try database.lines("SELECT id FROM notes")
    let form = /'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'/
    #expect(Set(keys).count == 3)
    #expect(keys.allSatisfy { $0.wholeMatch(of: form) != nil })
  }

  @Test("In a simulated world runs are alike, and its devices give different identifiers")
  func simulated() throws {
    func run() throws -> [String] {
      let bench = SyncHarness()
      let mac = try bench.device("mac", Self.schema, tables: ["notes"])
      let phone = try bench.device("phone", Self.schema, tables: ["notes"])
      try mac.execute("INSERT INTO notes(title) VALUES('a'), ('b')")
      try phone.execute("INSERT INTO notes(title) VALUES('c')")
      try bench.sync(mac, phone)
      #expect(
        try mac.lines("SELECT * FROM notes ORDER BY id")
          == phone.lines("SELECT * FROM notes ORDER BY id")
      )
      return try mac.lines("SELECT id FROM notes ORDER BY title")
    }

    let first = try run()

    #expect(Set(first).count == 3)
    #expect(try run() == first)
  }

  @Test("A host that has its own keeps it")
  func host() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.addTextFunction("uuid") { "mine" }

    try UUIDFunction.install(on: connection, environment: SimulatedEnvironment().environment)

    #expect(try connection.value("SELECT uuid()") == .text("mine"))
  }

  @Test("The engine adds it to a connection that has none")
  func engine() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    #expect(!connection.hasFunction("uuid"))

    try UUIDFunction.install(on: connection, environment: SimulatedEnvironment().environment)

    #expect(connection.hasFunction("UUID"))
    #expect(try connection.value("SELECT uuid() <> uuid()") == .integer(1))
  }

  @Test("Its bits are those of the numbers, but for version and variant")
  func bits() {
    #expect(UUIDFunction.text(high: .max, low: .max) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(UUIDFunction.text(high: 0, low: 1) == "00000000-0000-4000-8000-000000000001")
  }
}
