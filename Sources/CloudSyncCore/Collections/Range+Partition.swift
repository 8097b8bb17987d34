extension Range<Int> {
  /// The first place for which a condition holds that holds for no place before it and for all behind;
  /// the end of the range if it holds for none.
  ///
  /// - Complexity: The condition is asked O(log *n*) times.
  @inlinable
  package func firstPlace(where condition: (Int) throws -> Bool) rethrows -> Int {
    var low = lowerBound
    var high = upperBound
    while low < high {
      let middle = low + (high - low) / 2
      if try condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
