import CloudSyncSQLite

/// What the commands for databases have in common: the file, its tables, and the policies.
struct DatabaseArguments {
  /// The file's path.
  let path: String
  private let arguments: Arguments

  static let tables = Command.Option(
    name: "--tables",
    value: "A,B",
    help: "the tables, with commas between them",
    isRepeatable: true
  )
  static let all = Command.Option(name: "--all", help: "all tables, but views and virtual ones")
  static let dropUnique = Command.Option(
    name: "--drop-unique",
    help: "drop UNIQUE constraints beside the primary key"
  )
  static let keepIntegerKeys = Command.Option(
    name: "--keep-integer-keys",
    help: "AUTOINCREMENT keys stay: each device counts in a range of its own"
  )
  static let filter = Command.Option(
    name: "--filter",
    value: "TABLE=CONDITION",
    help: "send only rows that match the SQL condition; later runs keep it, and TABLE= ends it",
    isRepeatable: true
  )
  static let policies: [Command.Option] = [
    .init(
      name: "--unique-integer-keys",
      value: "A,B",
      help: "tables whose integer keys no two devices ever give to different rows",
      isRepeatable: true
    ),
    keepIntegerKeys,
    .init(
      name: "--allow-missing-defaults",
      help: "NOT NULL columns without a default are fine: every copy has the same columns"
    ),
    .init(
      name: "--unique-newest",
      value: "A,B",
      help:
        "tables with unique keys: of two rows with one value the newer stays, the other is parked",
      isRepeatable: true
    ),
    .init(
      name: "--unique-merge",
      value: "A,B",
      help: "tables with unique keys: two rows with one value become one",
      isRepeatable: true
    ),
    .init(
      name: "--edit-wins",
      value: "A,B",
      help: "tables in which an edit wins over a deletion made elsewhere",
      isRepeatable: true
    ),
  ]

  init(_ arguments: Arguments) {
    self.arguments = arguments
    path = arguments.operands[0]
  }

  // MARK: The file

  /// Opens the file without changing what it is.
  func open(access: DatabaseFile.Access) throws -> DatabaseFile {
    try SamePath.checkPresence(of: path)
    return try naming { try DatabaseFile(path: path, access: access) }
  }

  /// Runs a body whose errors are about the file, and names it in them.
  func naming<Value>(body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SyncEngineError {
      throw failure(for: error)
    }
  }

  /// The failure of an error that is about the file.
  func failure(for error: SyncEngineError) -> ToolError {
    let path = error.path ?? path
    // The library knows commands, and not how a shell takes a path.
    let reason = error.reason.replacing(
      "“cloudsync detach”",
      with: "“cloudsync detach \(path.argument)”"
    )
    return .failure("\(path): \(reason)")
  }

  // MARK: Tables

  /// The tables that are asked for, spelled as the database spells them; those that it does not have
  /// as they were given.
  ///
  /// - Parameters:
  ///   - names: All tables of the database.
  ///   - fallback: The tables if none are asked for; nil where they must be.
  /// - Returns: The tables, each once.
  /// - Throws: That the options contradict each other, or that there are no tables.
  func tables(names: [String], orElse fallback: [String]?) throws -> [String] {
    let wanted = list(of: "--tables", known: names)
    if arguments.has("--all"), !wanted.isEmpty {
      throw ToolError.usage("--all and --tables do not go together")
    }
    // A view, for example, is there and no table: the rules say so.
    for name in wanted where !names.contains(name) {
      if let meant = Suggestion.closest(to: name, among: names) {
        throw ToolError.usage("--tables names “\(name)”; did you mean “\(meant)”?")
      }
    }
    if !wanted.isEmpty { return wanted }
    if arguments.has("--tables") { throw ToolError.usage("--tables names no table") }
    if !arguments.has("--all") {
      guard let fallback else {
        throw ToolError.usage("name tables with --tables A,B, or take --all")
      }
      return fallback
    }
    if names.isEmpty { throw ToolError.failure("\(path): it has no tables") }
    return names
  }

  /// What the engine is told about the tables.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - policies: Those of the tables.
  ///   - metadata: What the database knows of former runs: their row filters are kept, since a forgotten option would
  ///     send what is to stay.
  /// - Returns: The options.
  /// - Throws: What is wrong with the arguments.
  func options(
    tables: [String],
    policies: SyncPolicies,
    metadata: SyncMetadata?
  ) throws -> SyncEngineOptions {
    let filters = try filters(of: tables)
    var options = SyncEngineOptions()
    for name in tables {
      var table = SyncEngineOptions.Table()
      table.hasUniqueIntegerKeys = policies.has("--unique-integer-keys", for: name)
      table.givesIntegerKeys = policies.has(Self.keepIntegerKeys.name)
      table.allowsMissingDefaults = policies.has("--allow-missing-defaults")
      if policies.has("--unique-newest", for: name) { table.uniqueKeys = .newest }
      if policies.has("--unique-merge", for: name) { table.uniqueKeys = .merge }
      if policies.has("--edit-wins", for: name) { table.merging.deletes = .editWins }
      // One that was left out for a while has its filter still.
      let former = (metadata?.tables ?? []) + (metadata?.leftOutTables ?? [])
      let known = former.first { $0.name.lowercased() == name.lowercased() }?.rowFilter
      table.rowFilter = filters[name] ?? known
      options.tables[name] = table
    }
    return options
  }

  /// The policies that are given, and of the others those that an earlier run was given.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - database: The database, which has kept them.
  /// - Returns: The policies.
  /// - Throws: What is wrong with the arguments, or the database.
  func policies(of tables: [String], in database: DatabaseFile) throws -> SyncPolicies {
    var given: [String: [String]] = [:]
    for option in Self.policies where arguments.has(option.name) {
      let names = list(of: option.name, known: tables)
      for name in names where !tables.contains(name) {
        let hint = Suggestion.text(for: name, among: tables)
        throw ToolError.usage("\(option.name) names “\(name)”, which is none of the tables\(hint)")
      }
      given[option.name] = names
    }
    let known = try naming { try SyncMetadata.toolPolicies(of: database) }
    return SyncPolicies(given: given, known: SyncPolicies(known), of: tables)
  }

  /// The row filters that are given, by table; nil in place of one that is to end.
  func filters(of tables: [String]) throws -> [String: String?] {
    var filters: [String: String?] = [:]
    for text in arguments.allValues(of: Self.filter.name) {
      // A name may have the sign too.
      let named = tables.filter { text.lowercased().hasPrefix($0.lowercased() + "=") }
        .max { $0.count < $1.count }
      guard let sign = text.firstIndex(of: "=") else {
        throw ToolError.usage(
          "--filter takes a table and a condition, as in --filter 'notes=private = 0', not “\(text)”"
        )
      }
      guard let name = named else {
        let wrong = Self.trimmed(text[..<sign])
        let hint = Suggestion.text(for: wrong, among: tables)
        throw ToolError.usage("--filter names “\(wrong)”, which is none of the tables\(hint)")
      }
      if filters[name] != nil { throw ToolError.usage("--filter is given twice for “\(name)”") }
      let condition = Self.trimmed(text.dropFirst(name.count + 1))
      filters[name] = .some(condition.isEmpty ? nil : condition)
    }
    return filters
  }

  /// The names that an option gives, as the database spells them, each once.
  func list(of option: String, known: [String]) -> [String] {
    var result: [String] = []
    for text in arguments.allValues(of: option) {
      // A name may have a comma.
      let parts = known.contains(text) ? [Substring(text)] : text.split(separator: ",")
      for part in parts {
        let name = Self.trimmed(part)
        // SQLite does not tell capital letters from small ones.
        let found =
          known.first { $0 == name }
          ?? known.first { $0.lowercased() == name.lowercased() } ?? name
        if !found.isEmpty, !result.contains(found) { result.append(found) }
      }
    }
    return result
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  // MARK: What stands in the way

  /// Throws if the schema forbids that the tables are synchronized.
  func refuse(violations: [SchemaViolation]) throws {
    let errors = violations.filter { !$0.isWarning }
    guard let first = errors.first else { return }
    // A table that is not there is not fixed.
    if [.missingTable, .notATable].contains(first.code) {
      let isNamed = arguments.has("--tables") || arguments.has("--all")
      let advice =
        " If it was renamed or dropped, name the tables anew: “cloudsync sync \(path.argument) --cloud"
        + " \(arguments.value(of: "--cloud")?.argument ?? "CLOUD") --all”, or --tables with a list."
      throw ToolError.failure("\(path): \(first.reason)\(isNamed ? "" : advice)")
    }
    let others = errors.count == 1 ? "" : " (the first of \(errors.count) errors)"
    // SQL that drops what the app relies on is no way out; a policy is.
    let unique = Set(errors.filter { $0.code == .uniqueConstraintDisallowed }.map(\.table)).sorted()
    let policy =
      unique.isEmpty
      ? ""
      : " Sync it with “--unique-newest \(unique.joined(separator: ","))”, or with --unique-merge; later runs"
        + " keep that."
    let fixing =
      errors.contains { $0.isMigrated && !$0.isOfUniqueKey }
      ? ", and “cloudsync migrate \(path.argument) --all --fix --dry-run” what can be fixed" : ""
    // What the command line says itself, a check of the file does not know.
    let isOfOptions = errors.count == 1 && [.rowFilter, .unknownOption].contains(first.code)
    let check = isOfOptions ? "" : " “cloudsync check \(path.argument)” tells everything\(fixing)."
    throw ToolError.failure(
      "\(path) cannot be synced as it is: \(first.reason)\(others)\(policy)\(check)"
    )
  }
}
