import Foundation
import Testing

/// The table of scenarios, and the tests whose titles begin with their numbers.
private struct ScenarioTable {
  static let count = 78

  /// The paths of the files with tests, by scenario.
  private(set) var rows: [Int: Set<String>] = [:]

  /// Reads a table in Markdown.
  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, let number = Int(cells[1]) else { continue }
      let paths = cells[3].split(separator: ",")
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
      rows[number, default: []].formUnion(paths)
    }
  }

  /// The numbers with which titles in a file begin.
  static func numbers(in source: String) -> Set<Int> {
    var numbers: Set<Int> = []
    for match in source.matches(of: /"(?:Scenario (\d+): |(\d+(?:, \d+)*)\. )/) {
      let text = match.1 ?? match.2 ?? ""
      numbers.formUnion(text.split(separator: ",").compactMap { Int($0.filter(\.isNumber)) })
    }
    return numbers.filter { (1...count).contains($0) }
  }
}

@Suite("The table of scenarios")
struct ScenarioTests {
  private static var root: URL {
    var url = URL(fileURLWithPath: #filePath)
    for _ in ["ScenarioTests.swift", "TidyTests", "Tests"] { url.deleteLastPathComponent() }
    return url
  }

  @Test("Every scenario has a test of its number, and the table names all of them")
  func agrees() throws {
    let text = try String(
      contentsOf: Self.root.appending(path: "Tests/Scenarios.md"),
      encoding: .utf8
    )
    let table = ScenarioTable(text)
    #expect(table.rows.keys.sorted() == Array(1...ScenarioTable.count))

    var found: [Int: Set<String>] = [:]
    for file in try SourceTree.ofThisPackage.get().files
    where file.path.contains("Tests/") && !file.path.hasPrefix("Tests/TidyTests/") {
      let source = try String(contentsOf: Self.root.appending(path: file.path), encoding: .utf8)
      for number in ScenarioTable.numbers(in: source) {
        found[number, default: []].insert(file.path)
      }
    }
    for number in 1...ScenarioTable.count {
      let tests = found[number] ?? []
      #expect(!tests.isEmpty, "scenario \(number) has no test")
      #expect(table.rows[number] == tests, "scenario \(number)")
    }
  }

  @Test("Titles are read by their numbers, also where a title has two")
  func reading() {
    #expect(
      ScenarioTable.numbers(in: #"@Test("7. A", "63, 66. B", "Scenario 9: C", "79. D")"#) == [
        7, 9, 63, 66,
      ]
    )
    #expect(ScenarioTable.numbers(in: #"let a = "x. 7. y""#) == [])
    #expect(ScenarioTable("| 1 | x | `a`, `b` |\n| 2 | y |  |").rows == [1: ["a", "b"], 2: []])
  }
}
