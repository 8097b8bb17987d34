import CloudSyncCore
import CloudSyncSQLite

/// `cloudsync migrate`: primary keys that can be synced.
enum MigrateCommand {
  static var command: Command {
    Command(
      path: ["migrate"],
      summary: "Give a database's tables primary keys that can be synced; --dry-run shows how.",
      operands: ["DATABASE"],
      options: [
        .init(name: "--dry-run", help: "show what would be done, and change nothing"),
        DatabaseArguments.tables, DatabaseArguments.all,
        .init(
          name: "--output",
          alias: "-o",
          value: "COPY",
          help: "write a copy, and do not change the database"
        ),
        .init(
          name: "--follow",
          value: "A.B=C,…",
          help: "columns that refer to a table without REFERENCES: they get its new keys",
          isRepeatable: true
        ),
        .init(
          name: "--leave",
          value: "A.B,…",
          help: "columns that look like references, and are none",
          isRepeatable: true
        ),
        .init(name: "--keep-old-keys", help: "keep each old key in a column, old_id of id"),
        .init(name: "--key-map", value: "FILE", help: "write old and new keys into a new CSV file"),
        DatabaseArguments.keepIntegerKeys,
        .init(
          name: "--fix",
          help: "add defaults to NOT NULL columns, and NOT NULL to keys"
        ),
        DatabaseArguments.dropUnique,
        .init(
          name: "--salt",
          value: "TEXT",
          help: "makes the keys differ from those that are given without it"
        ),
        .init(name: "--own-keys", help: "give keys that no other file gets; see below"),
        .json,
      ],
      discussion: """
        Integer and missing keys become UUIDs, and everything that refers to them by a foreign key follows.
        Copies of one database get the same UUIDs, so each may be migrated by itself, unless both have got
        new rows since they parted: two rows with one integer key would become one. Then migrate one and
        copy it. Files that are no copies of each other need --own-keys: each run gives keys of its own
        then. Rows that are inserted without a key get a random UUID. Nothing is changed if anything fails.

        A column that refers to a key without REFERENCES would keep the old integers, and joins would find
        nothing. Such columns are listed, and nothing is changed until each is named with --follow, which
        gives it the new keys, or --leave. References inside text or JSON are not found.

        Indexes of texts (FTS) and places (R*Tree) find rows by integers. Where one depends on a key that
        would change, nothing is done: keep the integer keys, or drop the index and its triggers, migrate,
        and create it again with the new key in a column of its own. At the end every trigger and index is
        tried; if one fails that worked before, all is undone.

        With --keep-integer-keys keys stay what they are, and the tables become AUTOINCREMENT. Sync them with
        the same option: each device then gives keys from ranges of its own, above all that it has seen, so
        that ORDER BY id, last_insert_rowid() and WHERE id = 1 work as before. The keys grow by billions and
        are not consecutive.

        The exit code is 0 if all these tables can be synced then. It is 1 if nothing could be changed, or if
        the keys were changed and something else stands in the way, which is told: --fix and --drop-unique
        remove it. --dry-run exits as the run itself would.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    let names = try target.naming {
      try SyncEngine.tableNames(in: try target.open(access: .readOnly))
    }
    let request = try MigrationRequest(arguments, target: target, names: names)
    try MigrationRun(request, in: target).run(console: console)
  }
}

/// What a command line asks of a migration.
struct MigrationRequest {
  /// Which other files get the same keys.
  enum Keys {
    /// All in which rows have the same numbers.
    case shared
    /// Those with the same salt.
    case salted
    /// None.
    case own

    /// What has to be known of them.
    func note(salt: String) -> String? {
      switch self {
      case .shared:
        "rows of another file that have the same numbers get the same keys, and count as the same rows; give a file"
          + " that is no copy of this one --own-keys"
      case .salted: nil
      case .own:
        "the new keys are this file's own: copy it; a copy that has to be migrated by itself gets the same keys with"
          + " --salt \(salt)"
      }
    }
  }

  let path: String
  var migration: PrimaryKeyMigration
  /// Who else gets the keys that are given.
  let keys: Keys
  /// Whether what `check` asks for is added: defaults and NOT NULL.
  let fixes: Bool
  let output: String?
  let keyMap: String?
  let isDryRun: Bool
  let isJSON: Bool
  /// Columns that only look like references, as `table.column`.
  private let left: [String]

  init(_ arguments: Arguments, target: DatabaseArguments, names: [String]) throws {
    let ownKeys = arguments.has("--own-keys")
    if ownKeys, arguments.has("--salt") {
      throw ToolError.usage("--own-keys and --salt do not go together")
    }
    path = target.path
    migration = PrimaryKeyMigration(
      tables: try target.tables(names: names, orElse: nil),
      salt: ownKeys ? Self.ownSalt : arguments.value(of: "--salt") ?? "",
      dropsUniqueKeys: arguments.has("--drop-unique")
    )
    keys = ownKeys ? .own : arguments.has("--salt") ? .salted : .shared
    migration.keyDefault = PrimaryKeyMigration.portableKeyDefault
    migration.keepsOldKeys = arguments.has("--keep-old-keys")
    migration.keepsIntegerKeys = arguments.has("--keep-integer-keys")
    migration.followedReferences = try Self.references(arguments.allValues(of: "--follow"))
    for one in migration.followedReferences {
      for name in [one.table, one.parentTable] {
        try Self.check(table: name, isAmong: names, option: "--follow")
      }
    }
    left = arguments.allValues(of: "--leave").flatMap { Self.parts(of: $0) }
    // Row numbers are those of virtual tables, which are no tables to migrate.
    let leftColumns = left.filter { !$0.lowercased().hasSuffix(".rowid") }
    for name in leftColumns.compactMap({ $0.split(separator: ".", maxSplits: 1).first }) {
      try Self.check(table: String(name), isAmong: names, option: "--leave")
    }
    fixes = arguments.has("--fix")
    output = arguments.value(of: "--output")
    keyMap = arguments.value(of: "--key-map")
    isDryRun = arguments.has("--dry-run")
    isJSON = arguments.has("--json")
    if migration.keepsIntegerKeys {
      for name in ["--keep-old-keys", "--key-map", "--follow", "--salt", "--own-keys"]
      where arguments.has(name) {
        throw ToolError.usage("\(name) does not go with --keep-integer-keys, which changes no key")
      }
    }
  }

  /// A salt that nobody else has.
  private static var ownSalt: String {
    let environment = SyncEnvironment.live
    return (0..<2).map { _ in String(environment.nonce(), radix: 36) }.joined()
  }

  /// The columns that look like references and that the command line says nothing of.
  func open(_ references: [UndeclaredReference]) -> [UndeclaredReference] {
    references.filter { $0.evidence != .guess && !isLeft($0.reference) }
  }

  private func isLeft(_ reference: KeyReference) -> Bool {
    let name = "\(reference.table).\(reference.column)".lowercased()
    return left.contains { $0.lowercased() == name }
  }

  private static func parts(of list: String) -> [String] {
    list.split(separator: ",").map { String($0).trimmed }.filter { !$0.isEmpty }
  }

  /// Throws if a table is not there that another one is close to; the rest the plan finds out.
  private static func check(table: String, isAmong names: [String], option: String) throws {
    if names.contains(where: { $0.lowercased() == table.lowercased() }) { return }
    guard let meant = Suggestion.closest(to: table, among: names) else { return }
    throw ToolError.usage("\(option) names “\(table)”; did you mean “\(meant)”?")
  }

  /// References as `table.column=parent`, with commas between them.
  private static func references(_ lists: [String]) throws -> [KeyReference] {
    try lists.flatMap { parts(of: $0) }
      .map { text in
        let sides = text.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
        let column = sides.first?.split(separator: ".", maxSplits: 1).map { String($0).trimmed }
        guard sides.count == 2, let column, column.count == 2 else {
          throw ToolError.usage("--follow takes TABLE.COLUMN=PARENT, not “\(text)”")
        }
        return KeyReference(table: column[0], column: column[1], parentTable: sides[1])
      }
  }
}

extension String {
  /// The text without spaces before and behind it.
  fileprivate var trimmed: String {
    var text = Substring(self)
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
