/// The benchmark `scaling`: every public call and every kind of response, at two sizes.
enum ScalingSection {
  /// Prints the table: of the rows with one of these words in their name, or of all.
  ///
  /// Two numbers are other sizes. With one number each row is run once at that size and nothing is printed,
  /// for a tool that counts instructions.
  static func run(_ arguments: some Collection<String>) throws {
    let numbers = arguments.compactMap { Int($0) }
    let words = arguments.filter { Int($0) == nil }
    // The baseline first, while no memory has been freed that could be used again.
    let rows =
      ScalingBaseline.rows + ScalingCalls.rows + ScalingAnswers.rows + ScalingRecords.rows
      + ScalingObservers.rows
    let wanted = rows.filter { row in words.isEmpty || words.contains { row.name.contains($0) } }
    if numbers.count == 1 {
      for row in wanted { _ = try row.run(numbers[0]) }
      return
    }
    try ScalingRow.printTable(
      wanted,
      sizes: numbers.count == 2 ? (numbers[0], numbers[1]) : (1_000, 16_000)
    )
  }
}
