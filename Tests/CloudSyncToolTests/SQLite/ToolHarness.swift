import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder with databases, and the tool.
struct ToolHarness {
  /// What a command line came to.
  struct Outcome {
    var code: Int32
    var output: String
    var errors: String
  }

  private final class Lines {
    var output = ""
    var errors = ""
  }

  let folder: String

  /// Runs a body with a folder that is removed afterwards.
  static func run(_ name: String = #function, _ body: (ToolHarness) throws -> Void) throws {
    let folder = TestPath.unique(name)
    if FileManager.default.fileExists(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder)
    }
    try FileManager.default.createDirectory(
      atPath: folder,
      withIntermediateDirectories: true
    )
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(ToolHarness(folder: folder))
  }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// The names of the folder's files.
  func files() throws -> [String] {
    // The connection of a run that is over closes when the last of its threads lets go of it.
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
      .sorted()
  }

  func bytes(_ name: String) -> Data? { FileManager.default.contents(atPath: path(name)) }

  /// Runs a command line, in which a word that begins with `@` is a file of the folder.
  @discardableResult
  func tool(_ arguments: String...) -> Outcome { run(arguments) }

  /// Runs a command line whose words are in an array.
  @discardableResult
  func run(_ arguments: [String], showsProgress: Bool = false) -> Outcome {
    let lines = Lines()
    let console = Console(
      showsProgress: showsProgress,
      output: { lines.output += $0 },
      errors: { lines.errors += $0 }
    )
    let words = arguments.map { $0.hasPrefix("@") ? path(String($0.dropFirst())) : $0 }
    let code = Tool.run(with: words, console: console)
    return Outcome(
      code: code,
      output: lines.output.replacing(folder + "/", with: ""),
      errors: lines.errors.replacing(folder + "/", with: "")
    )
  }

  /// Runs SQL in a database of the folder, which is made if it is missing; returns the rows of the last
  /// statement, a line each.
  @discardableResult
  func sql(_ name: String, _ statements: String...) throws -> [String] {
    let connection = try SQLiteConnection(path: path(name), access: .create)
    // The thread that ends a command's work may close its database a moment after the command has said so.
    connection.setBusyTimeout(milliseconds: 60_000)
    for statement in statements.dropLast() { try connection.execute(statement) }
    guard let last = statements.last else { return [] }
    let query = try connection.prepare(last)
    var lines: [String] = []
    try query.forEachRow {
      lines.append((0..<query.columnCount).map { query.value($0).literal }.joined(separator: "|"))
    }
    return lines
  }

  /// Every row of every table of the user's, by table.
  func contents(_ name: String) throws -> [String] {
    let tables = try sql(
      name,
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        + " AND name NOT LIKE 'cloudsync_%' ORDER BY name"
    )
    return try tables.flatMap { table in
      let quoted = String(table.dropFirst().dropLast()).quotedName
      return try sql(name, "SELECT * FROM \(quoted)").sorted().map { "\(table): \($0)" }
    }
  }
}
