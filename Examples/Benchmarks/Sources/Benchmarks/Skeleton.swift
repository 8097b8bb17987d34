/// The least that an event-sourced session can cost: a chain of eight middleware that only pass
/// events on, and a reduction that only counts.
///
/// It is the baseline that makes figures from different machines comparable.
enum Skeleton {
  private indirect enum Event {
    case enqueue(Int, String)
    case complete(Int, String)
  }

  private protocol Step {
    func run(_ event: Event, _ context: Context, _ next: (Event) -> Event) -> Event
  }

  private struct PassThrough: Step {
    let name: String
    func run(_ event: Event, _ context: Context, _ next: (Event) -> Event) -> Event {
      let reduced = next(event)
      if context.state < 0 { context.effects.append(reduced) }
      return reduced
    }
  }

  private final class Context {
    var state = 0
    var effects: [Event] = []
  }

  private static func pass(
    _ event: Event,
    _ chain: [any Step],
    _ context: Context,
    _ index: Int
  ) -> Event {
    guard index < chain.count else {
      switch event {
      case .enqueue(let number, _): context.state += number
      case .complete(let number, _): context.state -= number
      }
      return event
    }
    return chain[index].run(event, context) { pass($0, chain, context, index + 1) }
  }

  /// Nanoseconds for an event, the median of several runs.
  static func nanosecondsPerEvent() -> Double {
    let count = 200_000
    let chain: [any Step] = (0..<8).map { PassThrough(name: "step \($0)") }
    let context = Context()
    return Stopwatch()
      .median(of: { context }) { context in
        for number in 0..<count / 2 {
          _ = pass(.enqueue(number, "a"), chain, context, 0)
          _ = pass(.complete(number, "a"), chain, context, 0)
        }
      } / Double(count)
  }
}
