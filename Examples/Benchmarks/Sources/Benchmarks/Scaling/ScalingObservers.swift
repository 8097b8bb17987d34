import CloudSyncSession
import Dispatch
import Foundation

/// So many who observe a session, or wait for it.
enum ScalingObservers {
  static var rows: [ScalingRow] { subscriptions + waiters }

  private static func subscribed(_ size: Int) -> (bench: ScalingBench, all: [SyncSubscription]) {
    let bench = ScalingBench()
    return (bench, (0..<size).map { _ in bench.session.statePublisher.sink { _ in } })
  }

  /// A row that cancels all subscriptions, each at the place that a function of its number gives.
  private static func cancelled(
    _ order: String,
    _ place: @escaping (_ number: Int, _ size: Int) -> Int
  ) -> ScalingRow {
    ScalingRow(name: "cancelling a subscription, all \(order)", unit: "call") { size in
      let (bench, all) = subscribed(size)
      let time = ScalingRow.time {
        for number in 0..<size { all[place(number, size)].cancel() }
      }
      bench.session.start()
      return time / Double(size)
    }
  }

  private static var subscriptions: [ScalingRow] {
    [
      ScalingRow(name: "subscribing to the state, so many", unit: "call") { size in
        let bench = ScalingBench()
        return ScalingRow.time {
          for _ in 0..<size { bench.session.statePublisher.sink { _ in } }
        } / Double(size)
      },
      ScalingRow(name: "subscribing to pages, so many", unit: "call") { size in
        let bench = ScalingBench()
        return ScalingRow.time {
          for _ in 0..<size { bench.session.fetchWorkCompletedSubject.sink { _ in } }
        } / Double(size)
      },
      ScalingRow(name: "subscribing to changes of the cloud, so many", unit: "call") { size in
        let bench = ScalingBench()
        return ScalingRow.time {
          for _ in 0..<size { bench.session.cloudChangesSubject.sink { _ in } }
        } / Double(size)
      },
      cancelled("in order") { number, _ in number },
      cancelled("from the last to the first") { number, size in size - 1 - number },
      cancelled("in no order") { number, size in number * 7_919 % size },
      ScalingRow(name: "ending a stream of `values`, all in order", unit: "call") { size in
        let bench = ScalingBench()
        var streams = (0..<size).map { _ in bench.session.haltedSubject.values() }
        return ScalingRow.time { for place in 0..<size { streams[place] = AsyncStream { nil } } }
          / Double(size)
      },
      ScalingRow(name: "an event for so many subscribers", unit: "subscriber") { size in
        let bench = subscribed(size).bench
        let records = Crowd.records("note", 20)
        return try ScalingRow.time { for record in records { try bench.submit([record]) } }
          / Double(size * 20)
      },
      ScalingRow(name: "the same, with half of them cancelled", unit: "subscriber") { size in
        let (bench, all) = subscribed(2 * size)
        for subscription in all.prefix(size) { subscription.cancel() }
        let records = Crowd.records("note", 20)
        return try ScalingRow.time { for record in records { try bench.submit([record]) } }
          / Double(size * 20)
      },
      ScalingRow(name: "so many sessions that share a gate: joining", unit: "session") { size in
        let gate = SyncGate()
        var benches: [ScalingBench] = []
        return ScalingRow.time {
          for _ in 0..<size { benches.append(ScalingBench(gate: gate)) }
        } / Double(size)
      },
    ]
  }

  // MARK: Waiters

  /// A row of so many tasks that wait, until a last step lets them go on.
  private static func waiting(
    _ name: String,
    task: @escaping @Sendable (CloudSyncSession) async -> Void,
    end: @escaping (ScalingBench) -> Void
  ) -> ScalingRow {
    ScalingRow(name: name, unit: "call") { size in
      let bench = ScalingBench()
      bench.session.start()
      try bench.submit([Crowd.record("note")])
      let session = bench.session
      let begun = DispatchSemaphore(value: 0)
      let ended = DispatchSemaphore(value: 0)
      var time = ScalingRow.time {
        for _ in 0..<size {
          Task.detached {
            begun.signal()
            await task(session)
            ended.signal()
          }
        }
        for _ in 0..<size { begun.wait() }
      }
      // The last of them have begun, and wait a moment later.
      Thread.sleep(forTimeInterval: 0.05)
      time += ScalingRow.time {
        end(bench)
        for _ in 0..<size { ended.wait() }
      }
      return time / Double(size)
    }
  }

  private static var waiters: [ScalingRow] {
    [
      waiting("`idle`", task: { _ = await $0.idle(upTo: .seconds(600)) }) { bench in
        _ = bench.answer(Replies.saved)
      },
      waiting("`fetchNow`", task: { _ = await $0.fetchNow(upTo: .seconds(600)) }) { bench in
        _ = bench.answer(Replies.saved)
        _ = bench.answer(page: Replies.page(1, hasMore: false))
      },
      ScalingRow(name: "a response while so many wait for idleness", unit: "answer") { size in
        let bench = ScalingBench(items: 10)
        for record in Crowd.records("note", 510) { try bench.submit([record]) }
        bench.session.start()
        let session = bench.session
        let begun = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<size {
          Task.detached {
            begun.signal()
            _ = await session.idle(upTo: .seconds(600))
            ended.signal()
          }
        }
        for _ in 0..<size { begun.wait() }
        Thread.sleep(forTimeInterval: 0.05)
        var time = 0.0
        for _ in 0..<50 { time += bench.answer(Replies.saved) }
        _ = bench.answer(Replies.saved)
        for _ in 0..<size { ended.wait() }
        return time / 50
      },
    ]
  }
}
