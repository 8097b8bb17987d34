import GRDB

/// A shopping list.
struct ShoppingList: Codable, Hashable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "list"

  enum Columns {
    static let id = Column("id")
    static let title = Column("title")
  }

  var id: String?  // nil until it is inserted: uuid() gives it
  var title: String
}

/// Something to buy.
struct Item: Codable, Hashable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "item"

  enum Columns {
    static let id = Column("id")
    static let title = Column("title")
    static let isDone = Column("isDone")
    static let listID = Column("listID")
  }

  var id: String?
  var listID: String?
  var title: String
  var amount = 1
  var isDone = false
}

/// The database of the example.
enum Shopping {
  /// What is synchronized.
  static let tables = [ShoppingList.databaseTableName, Item.databaseTableName]

  /// How every connection to the database is opened, whichever process opens it.
  ///
  /// - Parameter uuid: Gives the new rows their keys.
  /// - Returns: GRDB's configuration.
  static func configuration(uuid: @escaping @Sendable () -> String) -> Configuration {
    var configuration = Configuration()  // foreign keys are enforced unless it says otherwise
    // By default GRDB does not wait for other connections that write, nor does the engine then.
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      // The default of the keys. Every connection that inserts rows needs it.
      db.add(function: DatabaseFunction("uuid", argumentCount: 0) { _ in uuid() })
    }
    return configuration
  }

  /// Run it before the engine is made, and make the engine anew after it has changed tables.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("lists and items") { db in
      // A row of an app version that lacks a column must still fit: hence the defaults.
      try db.execute(
        sql: """
          CREATE TABLE list(
            id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
            title TEXT NOT NULL DEFAULT ''
          );
          CREATE TABLE item(
            id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
            listID TEXT REFERENCES list(id) ON DELETE CASCADE,
            title TEXT NOT NULL DEFAULT '',
            isDone BOOLEAN NOT NULL DEFAULT 0
          );
          CREATE INDEX item_on_list ON item(listID);
          """
      )
    }
    migrator.registerMigration("amounts") { db in
      try db.alter(table: "item") { $0.add(column: "amount", .integer).notNull().defaults(to: 1) }
    }
    return migrator
  }
}
