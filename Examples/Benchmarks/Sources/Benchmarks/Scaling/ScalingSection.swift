/// The benchmark `scaling`: every public call and every kind of answer, at two sizes.
enum ScalingSection {
  /// Prints the table: of the rows with one of these words in their name, or of all; two numbers are
  /// other sizes.
  static func run(_ arguments: some Collection<String>) throws {
    let numbers = arguments.compactMap { Int($0) }
    let words = arguments.filter { Int($0) == nil }
    // The baseline first, while no memory has been freed that could be used again.
    let rows =
      ScalingBaseline.rows + ScalingCalls.rows + ScalingAnswers.rows + ScalingRecords.rows
      + ScalingObservers.rows
    try ScalingRow.printTable(
      rows.filter { row in words.isEmpty || words.contains { row.name.contains($0) } },
      sizes: numbers.count == 2 ? (numbers[0], numbers[1]) : (1_000, 16_000)
    )
  }
}
