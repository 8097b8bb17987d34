import CloudSyncSession

/// What plain reads cost when there is more to read: what no layout of the same memory can go below.
enum ScalingBaseline {
  /// Lists of numbers of 96 bytes, with their heads 128: about what a record's objects have.
  private static let pieceByteCount = 128

  /// As many pieces of memory as so many records have.
  private final class Pieces {
    var memory: [[Int]]
    /// A prime that does not divide their number: by it one comes to every piece once, in no order of the memory.
    let stride: Int

    init(records: Int) {
      let count = records * piecesPerRecord
      memory = (0..<count).map { [Int](repeating: $0, count: 12) }
      stride = count % 7_919 == 0 ? 7_907 : 7_919
    }
  }

  static var rows: [ScalingRow] {
    [
      ScalingRow(
        name: "baseline: reading as much memory as so many parked records have, in no order",
        unit: "record"
      ) {
        size in
        var (sum, place) = (0, 0)
        let pieces = Pieces(records: size)
        let time = ScalingRow.time {
          for _ in 0..<pieces.memory.count {
            // One number in each of its two cache lines.
            sum &+= pieces.memory[place][0] &+ pieces.memory[place][8]
            place = (place + pieces.stride) % pieces.memory.count
          }
        }
        precondition(sum == pieces.memory.count * (pieces.memory.count - 1))
        return time / Double(size)
      },
      ScalingRow(
        name: "baseline: copying as much memory piece by piece, and freeing the old",
        unit: "record"
      ) {
        size in
        let pieces = Pieces(records: size)
        var kept: [[Int]]? = pieces.memory
        let count = pieces.memory.count
        // What a persistent structure does of which an older version is kept.
        let time = ScalingRow.time {
          var place = 0
          for _ in 0..<count {
            pieces.memory[place][0] &+= 1
            place = (place + pieces.stride) % count
          }
          kept = nil
        }
        precondition(kept == nil && pieces.memory[0][0] == 1)
        return time / Double(size)
      },
    ]
  }

  /// How many pieces have as many bytes as a parked record, with all that the session knows of it.
  private static let piecesPerRecord: Int = {
    let count = 20_000
    let bench = ScalingBench(items: 400)
    bench.session.start()
    let before = SessionBenchmarks.residentBytes()
    try? bench.submit(Crowd.records("note", count))
    _ = bench.answerAll(Replies.refused(.invalidArguments))
    precondition(bench.session.state.parkedRecords.count == count)
    return max(1, (SessionBenchmarks.residentBytes() - before) / count / pieceByteCount)
  }()
}
