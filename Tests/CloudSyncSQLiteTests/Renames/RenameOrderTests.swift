import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Keys that are changed while other devices edit the row, in every order")
struct RenameOrderTests {
  /// Tries orders of edits and syncs with both policies, one of so many; tells what was wrong.
  private func failures(
    of steps: [[RenameStep]],
    part: (of: Int, number: Int) = (1, 0)
  ) throws -> [String] {
    var failures: [String] = []
    let orders = RenameScript.orders(of: steps.count)
    for (row, made) in orders.enumerated() {
      for (column, synchronized) in orders.enumerated() {
        for (place, deletes) in [DeletePolicy.deleteWins, .editWins].enumerated() {
          // Each order of edits meets each order of syncs and each policy, if not in each part.
          let number = (row * orders.count + column) * 2 + place
          if (number + part.number) % part.of != 0 { continue }
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

  @Test(
    "Of two devices one changes the key",
    arguments: zip(RenameStep.allCases, RenameStep.allCases.indices)
  )
  func two(step: RenameStep, place: Int) throws {
    let own: [[RenameStep]] = [
      [.rename], [.editFirst, .rename], [.rename, .editFirst], [.rename, .insertChild],
      [.editChild, .rename],
    ]
    for (number, steps) in own.enumerated() {
      let part = SuiteSize.isLong ? (of: 1, number: 0) : (of: 6, number: number + place)
      #expect(try failures(of: [steps, [step]], part: part) == [], "\(steps)")
    }
  }

  static let pairs = RenameStep.allCases.flatMap { one in
    RenameStep.allCases.map { [one, $0] }.filter { $0[0].rawValue <= $0[1].rawValue }
  }

  /// Some orders of each pair, all of them together; `CLOUDSYNC_LONG=1` has all 2,016 tried, which takes minutes.
  @Test("Of three devices one changes the key", arguments: zip(pairs, pairs.indices))
  func three(steps: [RenameStep], number: Int) throws {
    let part = SuiteSize.isLong ? (of: 1, number: 0) : (of: 48, number: number)
    let failures = try failures(of: [[.rename]] + steps.map { [$0] }, part: part)
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }
}
