import Foundation

/// The public declarations of a module, as the compiler lists them.
struct SymbolGraph {
  /// A declaration: where it is, and its text.
  struct Symbol: Hashable, Comparable {
    var path: String
    var declaration: String

    static func < (lhs: Self, rhs: Self) -> Bool {
      (lhs.path, lhs.declaration) < (rhs.path, rhs.declaration)
    }
  }

  private struct File: Decodable {
    struct Symbol: Decodable {
      struct Identifier: Decodable {
        var precise: String
      }
      struct Fragment: Decodable {
        var kind: String
        var spelling: String
      }
      var identifier: Identifier
      var pathComponents: [String]
      var declarationFragments: [Fragment]?
      var accessLevel: String
    }
    var symbols: [Symbol]
  }

  /// What every object, or every enumeration, has; the table does not list it.
  private static let inherited = ["hash", "isEqual(_:)", "init(rawValue:)"]

  /// Asks the compiler about a module of this build.
  ///
  /// - Throws: Why it does not tell.
  static func symbols(of module: String) throws -> [Symbol] {
    let output =
      FileManager.default.temporaryDirectory.path
      + "/cloudsync-graph-\(ProcessInfo.processInfo.processIdentifier)-\(module)"
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: output) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "symbolgraph-extract", "-module-name", module, "-I", try modules(),
      "-target", "x86_64-unknown-linux-gnu", "-minimum-access-level", "public",
      "-skip-synthesized-members", "-output-dir", output,
    ]
    #if arch(arm64)
    process.arguments?[6] = "aarch64-unknown-linux-gnu"
    #endif
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Problem(text: "no symbols of \(module)") }
    var symbols: Set<Symbol> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: output).sorted()
    where name.hasSuffix(".symbols.json") {
      let data = try Data(contentsOf: URL(filePath: "\(output)/\(name)"))
      for symbol in try JSONDecoder().decode(File.self, from: data).symbols {
        guard let last = symbol.pathComponents.last, !inherited.contains(last) else { continue }
        // What begins with an underscore is the stub's own, and not CloudKit's.
        guard !symbol.pathComponents.contains(where: { $0.hasPrefix("_") }) else { continue }
        let path = symbol.pathComponents.joined(separator: ".")
        let text = (symbol.declarationFragments ?? []).map(\.spelling).joined()
        symbols.insert(
          Symbol(path: path, declaration: asOnPages(text, isMember: path.contains(".")))
        )
      }
    }
    guard !symbols.isEmpty else { throw Problem(text: "\(module) has no symbols") }
    return symbols.sorted()
  }

  /// A declaration as Apple's pages write it.
  private static func asOnPages(_ text: String, isMember: Bool) -> String {
    let words = text.split(whereSeparator: \.isWhitespace)
      .filter { $0 != "override" && $0 != "required" }
    let text = words.joined(separator: " ").filter { $0 != "`" }
    guard isMember else { return text }
    if text.hasPrefix("let ") { return "var \(text.dropFirst(4)) { get }" }
    return text.hasPrefix("var ") && !text.hasSuffix("}") ? text + " { get set }" : text
  }

  struct Problem: Error {
    var text: String
  }

  /// The folder of the modules of this build: beside the running tests, or a folder above them.
  private static func modules() throws -> String {
    var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<5 {
      let modules = folder.appendingPathComponent("Modules")
      if FileManager.default.fileExists(atPath: modules.path + "/CloudKit.swiftmodule") {
        return modules.path
      }
      folder.deleteLastPathComponent()
    }
    throw Problem(text: "no folder of modules near \(CommandLine.arguments[0])")
  }
}

/// The table of what the stub may declare.
struct DeclarationTable {
  let symbols: [SymbolGraph.Symbol]

  /// Reads the rows of the tables of a Markdown text: the declaration and the page, each as code, and the first
  /// system.
  init(markdown: String) throws {
    var symbols: [SymbolGraph.Symbol] = []
    for line in markdown.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, !cells[2].isEmpty else {
        throw SymbolGraph.Problem(text: "a row has not three cells: \(line)")
      }
      let plain = cells.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "`")) }
      symbols.append(SymbolGraph.Symbol(path: plain[1], declaration: plain[0]))
    }
    self.symbols = symbols
  }

  /// What is in one of both only.
  func differences(to declared: [SymbolGraph.Symbol]) -> [String] {
    let (table, stub) = (Set(symbols), Set(declared))
    return stub.subtracting(table).sorted()
      .map { "not in the table: \($0.path): \($0.declaration)" }
      + table.subtracting(stub).sorted().map { "not in the stub: \($0.path): \($0.declaration)" }
  }
}
