#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncSession

/// Every call of a session with so many of everything around.
enum ScalingCalls {
  private static let times = 500

  /// A row of calls of a session that is not started: only the call itself is timed.
  private static func calls(
    _ name: String,
    isStarted: Bool = false,
    times: Int = Self.times,
    _ body: @escaping (ScalingBench, Crowd, Int) throws -> Void
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "call") { size in
      let crowd = try Crowd.of(size)
      let bench = crowd.bench(isStarted: isStarted)
      let time = try ScalingRow.time {
        for number in 0..<times { try body(bench, crowd, number) }
      }
      return time / Double(times)
    }
  }

  /// A row of one call that does something to so many.
  private static func whole(
    _ name: String,
    unit: String,
    isStarted: Bool = false,
    _ body: @escaping (ScalingBench, Crowd) throws -> Void
  ) -> ScalingRow {
    ScalingRow(name: name, unit: unit) { size in
      let crowd = try Crowd.of(size)
      let bench = crowd.bench(isStarted: isStarted)
      return try ScalingRow.time { try body(bench, crowd) } / Double(size)
    }
  }

  static var rows: [ScalingRow] {
    work + cancels + openCancels + parked + reading + decisions
  }

  private static var work: [ScalingRow] {
    let fresh = Crowd.records("fresh", times)
    return [
      calls("`modify` of one record") { bench, _, number in
        try bench.submit([fresh[number]])
      },
      calls("the same with a completion and `accepted`") { bench, _, number in
        try bench.session.modify(
          ModifyOperation(records: [fresh[number]]),
          completion: { _ in },
          accepted: { _ in }
        )
      },
      ScalingRow(name: "`modify` of so many records", unit: "record") { size in
        let bench = try Crowd.of(size).bench()
        let operation = ModifyOperation(records: Crowd.records("fresh", size))
        return try ScalingRow.time { try bench.session.modify(operation) } / Double(size)
      },
      calls("`fetch`") { bench, _, _ in bench.session.fetch() },
      calls("`fetch` that looks one record up") { bench, crowd, number in
        let recordID = crowd.parked[crowd.shuffled(number)]
        bench.session.fetch(FetchOperation(lookingUp: [recordID]))
      },
    ]
  }

  private static var cancels: [ScalingRow] {
    [
      whole("`cancel` of a queued modification, all in order", unit: "call") { bench, crowd in
        for id in crowd.operations { bench.session.cancel(id) }
      },
      whole("the same, all in no order", unit: "call") { bench, crowd in
        for number in 0..<crowd.size {
          bench.session.cancel(crowd.operations[crowd.shuffled(number)])
        }
      },
      whole("`cancel` of a waiting fetch, all in order", unit: "call") { bench, crowd in
        for id in crowd.waitingFetches { bench.session.cancel(id) }
      },
      whole("the same, all in no order", unit: "call") { bench, crowd in
        for number in 0..<crowd.size {
          bench.session.cancel(crowd.waitingFetches[crowd.shuffled(number)])
        }
      },
      whole("`cancel` of a fetch of the run, all in no order", unit: "call") { bench, crowd in
        for number in 0..<crowd.size {
          bench.session.cancel(crowd.runningFetches[crowd.shuffled(number)])
        }
      },
      calls("`cancel` of nothing") { bench, _, number in
        bench.session.cancel(OperationID(epoch: 1, number: UInt64(1 << 40 + number)))
      },
    ]
  }

  /// Cancelling what requests have been made of; as many as a request has.
  private static var openCancels: [ScalingRow] {
    func row(
      _ name: String,
      items: @escaping (Int) -> Int,
      isInFlight: Bool
    ) -> ScalingRow {
      ScalingRow(name: "`cancel` of an open modification, \(name)", unit: "call") { size in
        let crowd = try Crowd.of(size)
        let bench = crowd.bench(isStarted: true, items: items(size))
        // The network is away: what was sent waits to be sent again.
        if !isInFlight { _ = bench.answer { _ in .failure(SyncError(.networkFailure)) } }
        // No request is made of more operations of one record.
        let open = crowd.operations.prefix(min(items(size), 2_048))
        var time = ScalingRow.time { for id in open { bench.session.cancel(id) } }
        time += bench.answer(Replies.saved)
        return time / Double(open.count)
      }
    }
    return [
      row("400 in flight, and the response", items: { min($0, 400) }, isInFlight: true),
      row("400 that wait", items: { min($0, 400) }, isInFlight: false),
      row("so many in flight, and the response", items: { $0 }, isInFlight: true),
      row("so many that wait", items: { $0 }, isInFlight: false),
      ScalingRow(name: "`cancel` of an open modification of so many records", unit: "record") {
        size in
        let bench = ScalingBench(items: 400)
        bench.session.start()
        let id = try bench.session.modify(ModifyOperation(records: Crowd.records("note", size)))
        return (ScalingRow.time { bench.session.cancel(id) } + bench.answerAll(Replies.saved))
          / Double(size)
      },
    ]
  }

  private static var parked: [ScalingRow] {
    [
      calls("`retryParked`, one") { bench, crowd, number in
        bench.session.retryParked([crowd.parked[crowd.shuffled(number)]])
      },
      whole("`retryParked`, so many named", unit: "record") { bench, crowd in
        bench.session.retryParked(crowd.parked)
      },
      whole("`retryParked`, all", unit: "record") { bench, _ in bench.session.retryParked() },
      calls("`dropParked`, one") { bench, crowd, number in
        bench.session.dropParked([crowd.parked[crowd.shuffled(number)]])
      },
      whole("`dropParked`, so many named", unit: "record") { bench, crowd in
        bench.session.dropParked(crowd.parked)
      },
      whole("`dropParked`, all", unit: "record") { bench, _ in bench.session.dropParked() },
      calls("`retryNow`") { bench, _, _ in bench.session.retryNow() },
      calls("`connectivityChanged`") { bench, _, _ in bench.session.connectivityChanged() },
    ]
  }

  private static var reading: [ScalingRow] {
    [
      calls("`state` and its facts") { bench, _, _ in
        let state = bench.session.state
        precondition(state.hasWorkQueued && !state.wantsMoreWork && !state.isHalted)
      },
      calls("`explain`") { bench, _, _ in precondition(bench.session.explain().parkedRecords > 0) },
      calls("`state.essence`") { bench, _, _ in
        precondition(!bench.session.state.essence.data.isEmpty)
      },
      whole("`state.modifyQueue`", unit: "operation") { bench, crowd in
        precondition(bench.session.state.modifyQueue.count == crowd.size)
      },
      whole("`state.fetchQueue`", unit: "fetch") { bench, crowd in
        precondition(bench.session.state.fetchQueue.count == 2 * crowd.size)
      },
      whole("`state.parkedRecords`", unit: "record") { bench, crowd in
        precondition(bench.session.state.parkedRecords.count == crowd.size)
      },
      whole("`state.unsentEdits`", unit: "edit") { bench, crowd in
        precondition(bench.session.state.unsentEdits.count >= crowd.size)
      },
      whole("`snapshot`", unit: "of each") { bench, _ in bench.session.snapshot { _ in } },
      ScalingRow(name: "`SyncArchive` of it", unit: "of each") { size in
        let box = Box<[Data]>([])
        try Crowd.of(size).bench().session.snapshot { box.value = [$0] }
        return try ScalingRow.time { for bytes in box.value { _ = try SyncArchive(bytes) } }
          / Double(size)
      },
      whole("`journal`, its beginning", unit: "of each") { bench, _ in
        bench.session.journal { _ in }
      },
      ScalingRow(name: "`modify` with a journal", unit: "call") { size in
        let bench = try Crowd.of(size).bench()
        bench.session.journal { _ in }
        let fresh = Crowd.records("fresh", times)
        return try ScalingRow.time { for record in fresh { try bench.submit([record]) } }
          / Double(times)
      },
      calls("a session that goes on from an archive") { _, crowd, _ in
        _ = ScalingBench(crowd.archive)
      },
    ]
  }

  private static var decisions: [ScalingRow] {
    [
      calls("`start` and `stop`", isStarted: true) { bench, _, _ in
        bench.session.stop()
        bench.session.start()
      },
      calls("`accountDidChange`") { bench, _, _ in bench.session.accountDidChange() },
      calls("`acknowledge`, not stored") { bench, crowd, _ in
        bench.session.acknowledge(PageID(number: 1), .notNow)
      },
      ScalingRow(name: "`acknowledge`, and the next page", unit: "call") { size in
        let bench = try Crowd.of(size).bench(isStarted: true)
        _ = bench.answer(Replies.saved)
        var time = 0.0
        let times = 50  // Each has a modification, and there are a hundred of them at least.
        for number in 1...times {
          time += ScalingRow.time {
            bench.session.acknowledge(PageID(number: UInt64(number)), .stored)
          }
          if bench.handler.modification != nil { time += bench.answer(Replies.saved) }
          time += bench.answer(page: Replies.page(number))
        }
        return time / Double(times)
      },
      account("`resolveAccountSwitch`, wait", unit: "call", .wait),
      account("`resolveAccountSwitch`, adopt", .adopt),
      account("`resolveAccountSwitch`, discard", .discard),
      lostZone("`decideZone`, recreate", unit: "call", .recreate),
      lostZone("`decideZone`, abandon", .abandon),
      whole("`reset`", unit: "of each") { bench, _ in bench.session.reset() },
      whole("`reset` while a request is in flight", unit: "of each", isStarted: true) { bench, _ in
        bench.session.reset()
      },
      ScalingRow(name: "`reset` with 400 open and so many returning", unit: "record") { size in
        let bench = try Crowd.of(size).bench(isStarted: true, items: 400)
        bench.session.retryParked()
        return ScalingRow.time { bench.session.reset() } / Double(size)
      },
    ]
  }

  /// Another account has signed in.
  private static func account(
    _ name: String,
    unit: String = "of each",
    _ decision: AccountSwitchDecision
  ) -> ScalingRow {
    ScalingRow(name: name, unit: unit) { size in
      let bench = try Crowd.of(size).bench()
      let names = Box("one")
      bench.session.appendMiddleware(
        AccountStatusMiddleware { $0(.available, AccountIdentity(names.value)) }
      )
      bench.session.start()
      names.value = "another"
      bench.session.accountDidChange()
      return ScalingRow.time { bench.session.resolveAccountSwitch(decision) }
        / Double(unit == "call" ? 1 : size)
    }
  }

  /// The user has deleted the zone.
  private static func lostZone(
    _ name: String,
    unit: String = "of each",
    _ decision: ZoneDecision
  ) -> ScalingRow {
    ScalingRow(name: name, unit: unit) { size in
      let bench = try Crowd.of(size).bench(isStarted: true)
      _ = bench.answer { _ in .failure(SyncError(.userDeletedZone)) }
      return ScalingRow.time { bench.session.decideZone(decision) }
        / Double(unit == "call" ? 1 : size)
    }
  }
}
