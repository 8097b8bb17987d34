import CloudSyncSQLite
import Testing

@Suite("Keys that are changed while other devices edit the row, in every order")
struct RenameOrderTests {
  /// Tries all orders of edits and syncs with both policies; tells what was wrong.
  private func failures(of steps: [[RenameStep]]) throws -> [String] {
    var failures: [String] = []
    let orders = RenameScript.orders(of: steps.count)
    for made in orders {
      for synchronized in orders {
        for deletes in [DeletePolicy.deleteWins, .editWins] {
          let script = RenameScript(
            steps: steps,
            made: made,
            synchronized: synchronized,
            deletes: deletes
          )
          if let error = try script.error() {
            failures.append("\(deletes), made \(made), synchronized \(synchronized): \(error)")
          }
        }
      }
    }
    return failures
  }

  @Test("Of two devices one changes the key", arguments: RenameStep.allCases)
  func two(step: RenameStep) throws {
    let own: [[RenameStep]] = [
      [.rename], [.editFirst, .rename], [.rename, .editFirst], [.rename, .insertChild],
      [.editChild, .rename],
    ]
    for steps in own { #expect(try failures(of: [steps, [step]]) == [], "\(steps)") }
  }

  /// Without deletions: what a third device has edited goes with a deletion that it hears of before the change of the key.
  private static let kept = RenameStep.allCases.filter { $0 != .delete }

  static let pairs = kept.flatMap { one in
    kept.map { [one, $0] }.filter { $0[0].rawValue <= $0[1].rawValue }
  }

  @Test("Of three devices one changes the key", arguments: pairs)
  func three(steps: [RenameStep]) throws {
    #expect(try failures(of: [[.rename]] + steps.map { [$0] }) == [])
  }
}
