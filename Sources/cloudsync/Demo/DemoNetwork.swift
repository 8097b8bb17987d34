import CloudSyncCore
import CloudSyncSimulator

/// The way from a device to the cloud: it can be cut, and has the accidents of the story.
final class DemoNetwork: WorkHandler {
  /// Something that goes wrong with the next request that changes records.
  enum Accident {
    /// The cloud wants the device to wait.
    case throttle(Duration)
    /// The cloud does as it is told, and its response is lost.
    case responseLost
  }

  private struct State {
    var isOnline = true
    var accidents: [Accident] = []
  }

  private static let offline = SyncError(.networkUnavailable, "the device is offline")
  private static let throttled = "too many requests"
  private static let lost = SyncError(.serverResponseLost, "the response was lost")

  /// Whether an error is one that the story tells of, and not one of the accidents beside it.
  static func isOfStory(_ error: SyncError) -> Bool {
    [offline.message, throttled, lost.message].contains(error.message)
  }

  private let base: any WorkHandler
  private let state = Locked(State())
  var limits: RequestLimits { base.limits }
  var timestampUnit: Duration { base.timestampUnit }

  init(_ base: any WorkHandler) { self.base = base }

  var isOnline: Bool {
    get { state.withLock { $0.isOnline } }
    set { state.withLock { $0.isOnline = newValue } }
  }

  /// Lets something go wrong with one of the next requests, after what was said before.
  func expect(_ accident: Accident) { state.withLock { $0.accidents.append(accident) } }

  func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    guard isOnline else {
      return completion(.failure(Self.offline))
    }
    switch work.mode == .modify ? nextAccident() : nil {
    case .throttle(let wait):
      completion(.failure(SyncError(.requestRateLimited, Self.throttled, retryAfter: wait)))
    case .responseLost:
      base.handle(work, context: context) { _ in
        completion(.failure(Self.lost))
      }
    case nil: base.handle(work, context: context, completion: completion)
    }
  }

  func cancel(_ attempt: Attempt) { base.cancel(attempt) }

  private func nextAccident() -> Accident? {
    state.withLock { $0.accidents.isEmpty ? nil : $0.accidents.removeFirst() }
  }
}
