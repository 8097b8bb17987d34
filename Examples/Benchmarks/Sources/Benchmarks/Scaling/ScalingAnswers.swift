import CloudSyncSession

/// Every kind of response with so many of everything around: requests of ten records.
enum ScalingAnswers {
  private static let times = 40

  /// A row of responses to modifications; what makes the session wait is skipped, untimed.
  private static func answers(
    _ name: String,
    times: Int = Self.times,
    _ make: @escaping ScalingBench.Answer
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "answer") { size in
      let bench = try Crowd.of(size).bench(isStarted: true)
      var time = 0.0
      for _ in 0..<times {
        precondition(bench.handler.modification != nil, name)
        time += bench.answer(make)
        if bench.handler.modification == nil { bench.session.connectivityChanged() }
        if bench.handler.fetch != nil { time += bench.answerLookup() }
        if bench.handler.modification == nil { bench.session.retryNow() }
      }
      return time / Double(times)
    }
  }

  private static func failing(_ name: String, _ code: SyncError.Code) -> ScalingRow {
    answers(name) { _ in .failure(SyncError(code)) }
  }

  static var rows: [ScalingRow] { modifications + pages }

  private static var modifications: [ScalingRow] {
    [
      answers("all saved", Replies.saved),
      answers("half saved, half refused", Replies.halfRefused),
      answers("all refused", Replies.refused(.invalidArguments)),
      answers("conflicts, then saved", Replies.conflicts),
      answers("conflicts to look up, then saved", Replies.bareConflicts),
      answers("partial failure with conflicts", Replies.partialFailure),
      answers("records that do not exist", Replies.refused(.unknownItem)),
      answers(
        "records fail in passing",
        { operation in
          var isFirst = true
          return Replies.some(operation) { _ in
            defer { isFirst = false }
            return isFirst ? nil : SyncError(.networkFailure)
          }
        }
      ),
      answers("refused because of others", Replies.refused(.referenceViolation)),
      answers("nothing is said", { _ in .success(ModifyOperation.Response()) }),
      failing("the response is lost", .serverResponseLost),
      failing("the network is away", .networkFailure),
      answers(
        "the server asks to wait",
        { _ in .failure(SyncError(.requestRateLimited, retryAfter: .seconds(3))) }
      ),
      failing("the request is too large, down to one that is parked", .limitExceeded),
      failing("one record spoils the request, down to one that is parked", .invalidArguments),
      halting,
      once("storage is full: all that is queued is parked") { bench in
        bench.answer(Replies.refused(.quotaExceeded))
      },
      once("the zone is missing and made again") { bench in
        bench.answer { _ in .failure(SyncError(.zoneNotFound)) }
      },
    ]
  }

  private static var halting: ScalingRow {
    ScalingRow(name: "an error that halts, and `start`", unit: "answer") { size in
      let bench = try Crowd.of(size).bench(isStarted: true)
      var time = 0.0
      for _ in 0..<times {
        time += bench.answer { _ in .failure(SyncError(.badContainer)) }
        time += ScalingRow.time { bench.session.start() }
      }
      return time / Double(times)
    }
  }

  /// A row of one response that does something to so many.
  private static func once(
    _ name: String,
    _ answer: @escaping (ScalingBench) -> Double
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "of each") { size in
      answer(try Crowd.of(size).bench(isStarted: true)) / Double(size)
    }
  }

  // MARK: Pages

  /// A session that is fetching: nothing is queued but fetches, and records are parked.
  private static func fetching(_ size: Int) throws -> ScalingBench {
    let bench = try Crowd.of(size).bench(isStarted: true)
    _ = bench.answer(Replies.saved)
    bench.session.acknowledge(PageID(number: 1), .stored)
    if bench.handler.modification != nil { _ = bench.answer(Replies.saved) }
    precondition(bench.handler.fetch != nil)
    return bench
  }

  private static func page(
    _ name: String,
    unit: String = "record",
    _ make: @escaping (Int) -> FetchOperation.Response
  ) -> ScalingRow {
    ScalingRow(name: name, unit: unit) { size in
      let bench = try fetching(size)
      let page = make(size)
      return bench.answer(page: page) / Double(size)
    }
  }

  private static func failedFetch(
    _ name: String,
    unit: String,
    _ code: SyncError.Code
  ) -> ScalingRow {
    ScalingRow(name: name, unit: unit) { size in
      let bench = try fetching(size)
      return bench.answerFetch(SyncError(code)) / Double(unit == "answer" ? 1 : size)
    }
  }

  /// Pages between the requests of a large operation: what is saved of it waits for the rest.
  private static var pagesBesideAnswers: ScalingRow {
    ScalingRow(
      name: "a page of one record beside so many that are saved and not announced",
      unit: "page"
    ) { size in
      let bench = ScalingBench(items: 10)
      let pages = 50
      bench.session.start()
      let records = Crowd.records("note", size + 10 * (pages + 2))
      try bench.submit(records)
      for _ in 0..<size / 10 { _ = bench.answer(Replies.saved) }
      bench.session.fetch()
      var time = 0.0
      for number in 0...pages {
        _ = bench.answer(Replies.saved)
        precondition(bench.handler.fetch != nil)
        let page = bench.answer(
          page: FetchOperation.Response(
            changedRecords: [Replies.server(records[number].recordID)],
            changeToken: Replies.token(number),
            hasMore: true
          )
        )
        // The first one looks at everything that is saved, once a run.
        if number > 0 { time += page }
        bench.session.acknowledge(PageID(number: UInt64(number + 1)), .stored)
      }
      return time / Double(pages)
    }
  }

  private static var pages: [ScalingRow] {
    [
      pagesBesideAnswers,
      page("a page of so many records") { size in
        FetchOperation.Response(
          changedRecords: Crowd.records("fetched", size),
          changeToken: Replies.token(1),
          hasMore: true
        )
      },
      page("a page of so many deletions") { size in
        FetchOperation.Response(
          deletedRecords: Crowd.records("fetched", size)
            .map { DeletedRecord(recordID: $0.recordID) },
          changeToken: Replies.token(1),
          hasMore: true
        )
      },
      page("a page of so many that are queued and parked") { size in
        FetchOperation.Response(
          changedRecords: Crowd.records("note", size / 2) + Crowd.records("parked", size / 2),
          changeToken: Replies.token(1),
          hasMore: true
        )
      },
      page("a page of so many that could not be read") { size in
        FetchOperation.Response(
          failures: Crowd.records("fetched", size)
            .map { ItemFailure($0.recordID, SyncError(.internalError)) },
          changeToken: Replies.token(1),
          hasMore: true
        )
      },
      page("the last page, for so many fetches", unit: "fetch") { _ in
        Replies.page(1, hasMore: false)
      },
      failedFetch("the fetch fails, for so many", unit: "fetch", .invalidArguments),
      ScalingRow(name: "the token has expired", unit: "answer") { size in
        let bench = try fetching(size)
        return bench.answerFetch(SyncError(.changeTokenExpired))
      },
      ScalingRow(name: "a fetch's error that halts, and `start`", unit: "answer") { size in
        let bench = try fetching(size)
        var time = 0.0
        for _ in 0..<times {
          time += bench.answerFetch(SyncError(.badContainer))
          time += ScalingRow.time { bench.session.start() }
          if bench.handler.modification != nil { _ = bench.answer(Replies.saved) }
        }
        return time / Double(times)
      },
    ]
  }
}
