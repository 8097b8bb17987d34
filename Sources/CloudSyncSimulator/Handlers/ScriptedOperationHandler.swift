public import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A handler that plays a script: it answers in order, and notes whatever was asked otherwise.
///
/// ```swift
/// let handler = ScriptedOperationHandler(in: world, [
///   .createZone(), .createSubscription(),
///   .modify(saving: ["a"], .failure(SyncError(.networkFailure))),
///   .modify(saving: ["a"]),
/// ])
/// // … start a session, submit “a”, let time pass …
/// #expect(handler.mismatches.isEmpty && handler.remaining.isEmpty)
/// ```
///
/// It knows no test library: what differs from the script is a value. A call that does not fit gets
/// the error `invalidArguments`, and its step stays the next one; so does a call after the last step.
public final class ScriptedOperationHandler: WorkHandler {
  /// How a call is answered.
  public indirect enum Answer: Sendable {
    /// Everything is done: new change tags for what is saved, an empty last page for a fetch.
    case success
    /// This is the response.
    case result(SyncWork.Result)
    /// It fails.
    case failure(SyncError)
    /// It is answered when so much time has passed.
    case after(Duration, Answer)
    /// It is answered at once, and the same way once more when so much time has passed.
    case twice(Answer, again: Duration)
    /// It is never answered.
    case never
  }

  /// A call that is expected, and its response.
  public struct Step: Sendable {
    /// The kind of work.
    public var mode: OperationMode
    /// The names of the records to be saved, in order; nil for any.
    public var saves: [String]?
    /// The names of the records to be deleted, in order; nil for any.
    public var deletions: [String]?
    /// The response.
    public var answer: Answer

    /// Expects the creation of the zone.
    public static func createZone(_ answer: Answer = .success) -> Step {
      Step(mode: .createZone, answer: answer)
    }

    /// Expects the creation of the subscription.
    public static func createSubscription(_ answer: Answer = .success) -> Step {
      Step(mode: .createSubscription, answer: answer)
    }

    /// Expects a modification, of these records if they are given.
    public static func modify(
      saving saves: [String]? = nil,
      deleting deletions: [String]? = nil,
      _ answer: Answer = .success
    ) -> Step {
      Step(mode: .modify, saves: saves, deletions: deletions, answer: answer)
    }

    /// Expects a fetch.
    public static func fetch(_ answer: Answer = .success) -> Step {
      Step(mode: .fetch, answer: answer)
    }
  }

  /// A call that the script does not have at its place.
  public struct Mismatch: Sendable, Hashable, CustomStringConvertible {
    /// The number of the call, counting from 1.
    public let call: Int
    /// What the script has; nil after its end.
    public let expected: String?
    /// What was asked.
    public let asked: String

    /// Both in one line.
    public var description: String {
      "call \(call): \(expected.map { "expected \($0)" } ?? "the script has ended"), asked \(asked)"
    }
  }

  private struct State {
    var steps: [Step]
    var next = 0
    var calls = 0
    var tags = 0
    var mismatches: [Mismatch] = []
    var cancelled: [Attempt] = []
  }

  /// How much one request may hold.
  public let limits: RequestLimits
  private let world: SimulatedEnvironment
  private let state: Locked<State>

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - world: Whose time answers wait for.
  ///   - limits: How much one request may hold.
  ///   - steps: The calls that are expected, in order.
  public init(
    in world: SimulatedEnvironment,
    limits: RequestLimits = RequestLimits(),
    _ steps: [Step]
  ) {
    self.world = world
    self.limits = limits
    state = Locked(State(steps: steps))
  }

  /// What was asked otherwise than the script has it, in order.
  public var mismatches: [Mismatch] { state.withLock { $0.mismatches } }
  /// The steps that nobody has asked for.
  public var remaining: [Step] { state.withLock { Array($0.steps[$0.next...]) } }
  /// The attempts that the session gave up.
  public var cancelled: [Attempt] { state.withLock { $0.cancelled } }

  /// Adds steps at the end of the script.
  public func append(_ steps: [Step]) { state.withLock { $0.steps += steps } }

  /// Answers a call by the next step.
  public func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    let (answer, tag) = state.withLock { state -> (Answer, Int) in
      state.calls += 1
      state.tags += 1
      guard state.next < state.steps.count, state.steps[state.next].fits(work: work) else {
        let expected = state.next < state.steps.count ? "\(state.steps[state.next])" : nil
        state.mismatches.append(
          Mismatch(call: state.calls, expected: expected, asked: work.summary)
        )
        return (.failure(SyncError(.invalidArguments, "the script has something else here")), 0)
      }
      defer { state.next += 1 }
      return (state.steps[state.next].answer, state.tags)
    }
    give(answer: answer, to: work, tag: tag, completion: completion)
  }

  /// Notes that nobody waits for a response any more.
  public func cancel(_ attempt: Attempt) { state.withLock { $0.cancelled.append(attempt) } }

  private func give(
    answer: Answer,
    to work: SyncWork,
    tag: Int,
    completion: @escaping Completion
  ) {
    switch answer {
    case .success: completion(.success(work.success(tag: tag)))
    case .result(let result): completion(.success(result))
    case .failure(let error): completion(.failure(error))
    case .after(let delay, let answer):
      world.schedule(after: delay) {
        self.give(answer: answer, to: work, tag: tag, completion: completion)
      }
    case .twice(let answer, let delay):
      give(answer: answer, to: work, tag: tag, completion: completion)
      world.schedule(after: delay) {
        self.give(answer: answer, to: work, tag: tag, completion: completion)
      }
    case .never: break
    }
  }
}

extension ScriptedOperationHandler.Step: CustomStringConvertible {
  /// What is expected, in a few words.
  public var description: String {
    guard mode == .modify else { return "\(mode)" }
    let saves = saves.map { $0.joined(separator: " ") } ?? "anything"
    let deletions = deletions.map { $0.joined(separator: " ") } ?? "anything"
    return "modify saving [\(saves)] deleting [\(deletions)]"
  }

  /// Whether a call is the expected one.
  func fits(work: SyncWork) -> Bool {
    guard work.mode == mode else { return false }
    guard case .modify(let operation) = work else { return true }
    if let saves, saves != operation.records.map(\.recordID.name) { return false }
    if let deletions, deletions != operation.recordIDsToDelete.map(\.name) { return false }
    return true
  }
}

extension SyncWork {
  /// The work in a few words.
  var summary: String {
    switch self {
    case .createZone, .createSubscription: "\(mode)"
    case .modify(let operation):
      ScriptedOperationHandler.Step
        .modify(
          saving: operation.records.map(\.recordID.name),
          deleting: operation.recordIDsToDelete.map(\.name)
        )
        .description
    case .fetch(let operation):
      operation.isLookup
        ? "fetch of [\(operation.recordIDs.map(\.name).joined(separator: " "))]" : "fetch"
    }
  }

  /// The response that everything is done.
  func success(tag: Int) -> SyncWork.Result {
    switch self {
    case .createZone: .createZone(true)
    case .createSubscription: .createSubscription(true)
    case .modify(let operation):
      .modify(
        ModifyOperation.Response(
          savedRecords: operation.records.map { $0.withChangeTag("\(tag)") },
          deletedRecordIDs: operation.recordIDsToDelete
        )
      )
    case .fetch(let operation):
      .fetch(
        FetchOperation.Response(
          changedRecords: operation.recordIDs.map { Record(recordType: "Scripted", recordID: $0) },
          changeToken: operation.isLookup ? nil : ChangeToken(Data("\(tag)".utf8))
        )
      )
    }
  }
}
