import Foundation
import Testing

/// The table of scenarios of histories names tests that there are.
@Suite("The table of scenarios of histories")
struct HistoryScenarioTests {
  private static var root: URL {
    var url = URL(fileURLWithPath: #filePath)
    for _ in ["HistoryScenarioTests.swift", "TidyTests", "Tests"] { url.deleteLastPathComponent() }
    return url
  }

  @Test("Each scenario has tests, and each test that it names is there")
  func agrees() throws {
    let text = try String(
      contentsOf: Self.root.appending(path: "Tests/HistoryScenarios.md"),
      encoding: .utf8
    )
    var functions: Set<String> = []
    for file in try SourceTree.ofThisPackage.get().files where file.path.hasPrefix("Tests/") {
      functions.formUnion(file.functionNames)
    }
    var numbers: [Int] = []
    for line in text.split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, let number = Int(cells[1]) else { continue }
      numbers.append(number)
      let names = cells[3].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(!names.isEmpty, "scenario \(number) has no test")
      for name in names { #expect(functions.contains(name), "scenario \(number): \(name)") }
    }
    #expect(numbers == Array(1...70))
  }
}
