import CloudSyncSQLiteSimulation
import CloudSyncTestSupport
import Testing

/// The long run leaves none of the statements out.
@Suite("Breaking off at every statement")
struct CrashTests {
  /// What both databases have in the end when nothing goes wrong.
  private static let undisturbed = Result { try CrashScript().run(nil, at: 0).rows }

  /// So many parts, so that they run side by side.
  private static let parts = SuiteSize.count(2, long: 4)

  /// How far apart the statements are that are tried.
  private static let stride = SuiteSize.count(990, long: 1)

  @Test("The script's end without a fault is what both devices want")
  func withoutFault() throws {
    let rows = try Self.undisturbed.get()
    #expect(rows[0] == rows[1])
    let notes = rows[0].filter { $0.hasPrefix("'notes'") }
    #expect(notes == ["'notes'|'a'|'k'|NULL|'one'", "'notes'|'b'|'k'|20|'again'"])
    #expect(rows[0].filter { $0.hasPrefix("'tags'") } == [])
    #expect(rows[0].allSatisfy { !$0.hasSuffix("'dirty'") && !$0.hasSuffix("'inFlight'") })
  }

  @Test(
    "A process that ends at any statement changes nothing about the end, nor does one that fails",
    arguments: [FaultyDatabase.Fault.ends, .fails],
    0..<parts
  )
  func everyStatement(fault: FaultyDatabase.Fault, part: Int) throws {
    let wanted = try Self.undisturbed.get()
    // A failure leaves less behind than a crash: every third will do.
    let step = Self.parts * Self.stride * (fault == .ends ? 1 : 3)
    var statement = part + 1
    while true {
      let (rows, wasReached, failures) = try CrashScript().run(fault, at: statement)
      #expect(failures == [], "statement \(statement)")
      for (number, rows) in rows.enumerated() where rows != wanted[number] {
        Issue.record("\(fault) at statement \(statement): device \(number) has \(rows)")
        return
      }
      guard wasReached else { break }
      statement += step
    }
    #expect(statement > 200)
  }
}
