import CloudSyncSession

/// What plain reads cost when there is more to read: what no layout of the same memory can go below.
enum ScalingBaseline {
  /// Lists of numbers of 96 bytes, with their heads 128: about what a record's objects have.
  private static let pieceByteCount = 128

  static var rows: [ScalingRow] {
    [
      ScalingRow(
        name: "baseline: reading as much memory as so many parked records have, in no order",
        unit: "record"
      ) {
        size in
        let pieces = size * piecesPerRecord
        let memory = (0..<pieces).map { number in [Int](repeating: number, count: 12) }
        // A prime that does not divide their number: every piece once, in no order of the memory.
        let stride = pieces % 7_919 == 0 ? 7_907 : 7_919
        var (sum, place) = (0, 0)
        let time = ScalingRow.time {
          for _ in 0..<pieces {
            // One number in each of its two cache lines.
            sum &+= memory[place][0] &+ memory[place][8]
            place = (place + stride) % pieces
          }
        }
        precondition(sum == pieces * (pieces - 1))
        return time / Double(size)
      }
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
