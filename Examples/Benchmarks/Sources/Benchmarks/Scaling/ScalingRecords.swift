import CloudSyncSession

/// One operation of so many records, and what becomes of records that are parked.
enum ScalingRecords {
  static var rows: [ScalingRow] { answers + parked + returns + merges }

  /// A row of one operation of so many records, until all of them are answered.
  private static func records(
    _ name: String,
    items: Int = 1 << 20,
    deletes: Bool = false,
    resolver: ConflictResolver = .fieldwise(default: .client),
    _ make: @escaping ScalingBench.Answer
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "record") { size in
      let bench = ScalingBench(items: items, resolver: resolver)
      let records = Crowd.records("note", size)
      try bench.submit(deletes ? [] : records, deleting: deletes ? records.map(\.recordID) : [])
      // The first request is made then; it counts as the others do.
      let start = ScalingRow.time { bench.session.start() }
      return (start + bench.answerAll(make)) / Double(size)
    }
  }

  private static var answers: [ScalingRow] {
    [
      records("so many records, all saved", Replies.saved),
      records("the same in requests of 400", items: 400, Replies.saved),
      records("so many deletions", deletes: true, Replies.saved),
      records("so many, half saved, half refused", Replies.halfRefused),
      records("so many conflicts, then saved", Replies.conflicts),
      records("so many conflicts to look up, then saved", Replies.bareConflicts),
      records("so many in a partial failure, then saved", items: 400, Replies.partialFailure),
      records(
        "so many, and one spoils each request: halves",
        items: 400,
        { operation in
          operation.records.contains { $0.recordID.name.hasSuffix("77") }
            ? .failure(SyncError(.invalidArguments)) : Replies.saved(operation)
        }
      ),
      records(
        "so many, and requests of more than 10 are too large",
        items: 400,
        { operation in
          operation.records.count > 10
            ? .failure(SyncError(.limitExceeded)) : Replies.saved(operation)
        }
      ),
    ]
  }

  private static var parked: [ScalingRow] {
    [
      records("parked: refused", Replies.refused(.invalidArguments)),
      records(
        "parked: by the resolver",
        resolver: ConflictResolver { _ in .park },
        Replies.conflicts
      ),
      records(
        "parked: for an edit of the app",
        resolver: ConflictResolver { _ in .later },
        Replies.conflicts
      ),
      records("parked: storage full", items: 400, Replies.refused(.quotaExceeded)),
      records("parked: failed in passing", items: 400, failingInPassing),
      records("parked: because of records that nobody knows", Replies.refused(.referenceViolation)),
      dependents(
        "parked: because of one parked record",
        parents: { _ in 1 },
        measuresReturn: false
      ),
      dependents(
        "parked: because of a parked record each",
        parents: { $0 },
        measuresReturn: false
      ),
    ]
  }

  private static func failingInPassing(_ operation: ModifyOperation) -> Replies.Reply {
    var isFirst = true
    return Replies.some(operation) { _ in
      defer { isFirst = false }
      return isFirst ? nil : SyncError(.networkFailure)
    }
  }

  /// Children that were refused because of parents, one parent for all or one each.
  private static func dependents(
    _ name: String,
    parents: @escaping (Int) -> Int,
    measuresReturn: Bool
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "record") { size in
      let bench = ScalingBench(items: 1 << 20)
      bench.session.start()
      let parents = Crowd.records("parent", parents(size))
      try bench.submit(parents)
      _ = bench.answerAll(Replies.refused(.invalidArguments))
      let children = (0..<size)
        .map { number in
          var child = Crowd.record("child-\(number)")
          child["parent"] = .reference(
            Reference(recordID: parents[number % parents.count].recordID)
          )
          return child
        }
      bench.session.stop()
      try bench.submit(children)
      let start = ScalingRow.time { bench.session.start() }
      let parking = start + bench.answerAll(Replies.refused(.referenceViolation))
      guard measuresReturn else { return parking / Double(size) }
      let call = ScalingRow.time { bench.session.retryParked(parents.map(\.recordID)) }
      let time = call + bench.answerAll(Replies.saved)
      precondition(bench.session.state.parkedRecords.isEmpty)
      return time / Double(size)
    }
  }

  /// Records that were parked, and what makes them return.
  private static func returning(
    _ name: String,
    parking: @escaping ScalingBench.Answer,
    leaves: Int = 0,
    answer: @escaping ScalingBench.Answer = Replies.saved,
    _ call: @escaping (ScalingBench) throws -> Void
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "record") { size in
      let bench = ScalingBench(items: 400)
      bench.session.start()
      try bench.submit(Crowd.records("note", size))
      _ = bench.answerAll(parking)
      bench.session.stop()
      bench.session.start()
      let time = try ScalingRow.time { try call(bench) } + bench.answerAll(answer)
      return time / Double(size)
    }
  }

  private static var returns: [ScalingRow] {
    [
      returning("returned by `retryParked`, saved", parking: Replies.refused(.invalidArguments)) {
        $0.session.retryParked()
      },
      returning(
        "returned by `retryParked`, refused again",
        parking: Replies.refused(.invalidArguments),
        answer: Replies.refused(.invalidArguments)
      ) { $0.session.retryParked() },
      dependents("returned by one record", parents: { _ in 1 }, measuresReturn: true),
      dependents("returned by a record each", parents: { $0 }, measuresReturn: true),
      returning(
        "returned because something was saved",
        parking: Replies.refused(.referenceViolation)
      ) { $0.session.retryParked([Crowd.record("note-5").recordID]) },
      returning("returned because storage is free", parking: Replies.refused(.quotaExceeded)) {
        $0.session.retryNow()
      },
      returning("tried again in time, saved", parking: failingInPassing, probe),
      returning(
        "tried again in time, failed again",
        parking: failingInPassing,
        answer: failingInPassing,
        probe
      ),
      returning("tried again by `retryNow`, saved", parking: failingInPassing) {
        $0.session.retryNow()
      },
      returning("a clock set back", parking: failingInPassing) { bench in
        bench.clock.now = bench.clock.now.advanced(byNanoseconds: -3_600_000_000_000)
        bench.session.connectivityChanged()
      },
    ]
  }

  /// The time of all has come.
  private static func probe(_ bench: ScalingBench) {
    bench.clock.now = bench.clock.now.advanced(byNanoseconds: 86_400_000_000_000)
    bench.session.connectivityChanged()
  }

  private static var merges: [ScalingRow] {
    [
      ScalingRow(name: "so many edits of one record, queued and saved", unit: "edit") { size in
        let bench = ScalingBench()
        for _ in 0..<size { try bench.submit([Crowd.record("note")]) }
        return (ScalingRow.time { bench.session.start() } + bench.answerAll(Replies.saved))
          / Double(size)
      },
      ScalingRow(name: "so many edits of one record for which there is no storage", unit: "edit") {
        size in
        let bench = ScalingBench()
        bench.session.start()
        try bench.submit([Crowd.record("note")])
        _ = bench.answer(Replies.refused(.quotaExceeded))
        let call = try ScalingRow.time {
          for _ in 0..<size { try bench.submit([Crowd.record("note")]) }
        }
        return call / Double(size)
      },
      ScalingRow(name: "so many edits behind one that waits, and its response", unit: "edit") {
        size in
        let bench = ScalingBench(items: 1 << 20)
        bench.session.start()
        try bench.submit([Crowd.record("note")])
        let call = try ScalingRow.time {
          for _ in 0..<size { try bench.submit([Crowd.record("note")]) }
        }
        return (call + bench.answerAll(Replies.saved)) / Double(size)
      },
      returning(
        "edits of so many parked records, saved",
        parking: Replies.refused(.invalidArguments)
      ) { bench in
        try bench.submit(Crowd.records("note", bench.session.state.parkedRecords.count))
      },
      ScalingRow(name: "so many saved behind one that is never answered for", unit: "operation") {
        size in
        let bench = ScalingBench()
        for record in Crowd.records("note", size) { try bench.submit([record]) }
        bench.session.start()
        var left = size
        var time = 0.0
        while left > 0 {
          time += bench.answer { operation in
            left -= operation.records.count - 1
            var isFirst = true
            return Replies.some(operation) { _ in
              defer { isFirst = false }
              return isFirst ? SyncError(.batchRequestFailed) : nil
            }
          }
          if operationIsLast(bench) { break }
        }
        return time / Double(size)
      },
    ]
  }

  private static func operationIsLast(_ bench: ScalingBench) -> Bool {
    (bench.handler.modification?.operation.itemCount ?? 0) <= 1
  }
}
