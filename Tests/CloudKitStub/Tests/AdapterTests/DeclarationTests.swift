import Foundation
import Testing

@Suite("Declarations of the stub")
struct DeclarationTests {
  private static let table = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Declarations.md")

  private func table() throws -> DeclarationTable {
    try DeclarationTable(markdown: String(contentsOf: Self.table, encoding: .utf8))
  }

  #if !CLOUDKIT_STUB_SENDABLE
  @Test("Scenario 34: the stub declares what the table lists, and nothing else")
  func tableAndStub() throws {
    let declared = try SymbolGraph.symbols(of: "CloudKit") + SymbolGraph.symbols(of: "CoreLocation")

    for difference in try table().differences(to: declared) { Issue.record("\(difference)") }
  }
  #endif

  @Test("Scenario 34: a declaration that is only in one of both is found")
  func differencesAreFound() throws {
    let table = try table()
    let more = SymbolGraph.Symbol(path: "CKRecord.more", declaration: "var more: Int { get }")

    #expect(table.symbols.count > 150)
    #expect(Set(table.symbols).count == table.symbols.count)
    #expect(table.differences(to: table.symbols).isEmpty)
    #expect(
      table.differences(to: table.symbols + [more])
        == ["not in the table: CKRecord.more: var more: Int { get }"]
    )
    #expect(table.differences(to: Array(table.symbols.dropFirst())).count == 1)
  }
}
