/// The items of a zone by position, to which items are added at the end only.
///
/// Chunks of positions in rising order, each with the number of its item: a page is found by two
/// binary searches, and costs no more than its items.
struct FeedIndex {
  /// Some consecutive positions.
  private struct Chunk {
    var positions: [Int64]
    var numbers: [Int]
  }

  private static let full = 512
  private static let sparse = 128

  private var chunks: [Chunk] = []

  /// Adds an item whose position is above all others.
  mutating func append(position: Int64, number: Int) {
    if chunks.last.map({ $0.positions.count >= Self.full }) ?? true {
      var chunk = Chunk(positions: [], numbers: [])
      chunk.positions.reserveCapacity(Self.full)
      chunk.numbers.reserveCapacity(Self.full)
      chunks.append(chunk)
    }
    chunks[chunks.count - 1].positions.append(position)
    chunks[chunks.count - 1].numbers.append(number)
  }

  /// Takes out the item of a position.
  mutating func remove(position: Int64) {
    let index = chunkIndex(after: position - 1)
    guard index < chunks.count else { return }
    let place = chunks[index].positions.firstPlace { $0 < position }
    guard place < chunks[index].positions.count, chunks[index].positions[place] == position else {
      return
    }
    chunks[index].positions.remove(at: place)
    chunks[index].numbers.remove(at: place)
    let count = chunks[index].positions.count
    if count == 0 {
      chunks.remove(at: index)
    } else if count < Self.sparse, index > 0, chunks[index - 1].positions.count < Self.sparse {
      let chunk = chunks.remove(at: index)
      chunks[index - 1].positions += chunk.positions
      chunks[index - 1].numbers += chunk.numbers
    }
  }

  /// The numbers of the first items after a position.
  func numbers(after position: Int64, limit: Int) -> [Int] {
    var result: [Int] = []
    var index = chunkIndex(after: position)
    while index < chunks.count, result.count < limit {
      let chunk = chunks[index]
      let place = result.isEmpty ? chunk.positions.firstPlace { $0 <= position } : 0
      result += chunk.numbers[place...].prefix(limit - result.count)
      index += 1
    }
    return result
  }

  /// The first chunk that has a position above one.
  private func chunkIndex(after position: Int64) -> Int {
    chunks.firstPlace { $0.positions[$0.positions.count - 1] <= position }
  }
}
