public import CloudSyncCore
public import CloudSyncEventLog
import CloudSyncVirtualTime

extension SessionScript {
  /// Plays the script to a session, in virtual time on the calling thread.
  ///
  /// - Parameter middleware: Middleware of the app's own, to be appended to the session's.
  /// - Returns: What it came to.
  /// - Throws: An error with the code `LogError.Code.script` if a call breaks a rule or the snapshot
  ///   cannot be read.
  public func run(middleware: [any Middleware] = []) throws(LogError) -> Outcome {
    var run = try ScriptRun(of: self, middleware: middleware)
    return try run.play()
  }
}

/// A script while it is played.
private struct ScriptRun {
  private let script: SessionScript
  private let world: VirtualEnvironment
  private let player: ScriptPlayer
  private let session: CloudSyncSession
  private let observer: TallyObserver
  /// The operations that were submitted under a number.
  private var names: [UInt64: OperationID] = [:]

  init(of script: SessionScript, middleware: [any Middleware]) throws(LogError) {
    self.script = script
    world = VirtualEnvironment(startingAt: script.time, nonces: script.nonces)
    switch script.beginning {
    case .new(let zoneID, let configuration):
      let limits = configuration.limits ?? RequestLimits()
      player = ScriptPlayer(script, limits: limits, in: world)
      session = CloudSyncSession(
        operationHandler: player,
        zoneID: zoneID,
        configuration: configuration,
        resolver: player.resolver,
        resolveExpiredChangeToken: player.tokenAfterExpiry,
        environment: world.environment
      )
    case .snapshot(let data):
      let archive: SyncArchive
      do {
        archive = try SyncArchive(data)
      } catch {
        throw LogError(.script, log: "script", "the snapshot cannot be read: \(error)")
      }
      player = ScriptPlayer(script, limits: archive.state.limits, in: world)
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: player,
        resolver: player.resolver,
        resolveExpiredChangeToken: player.tokenAfterExpiry,
        environment: world.environment
      )
    }
    observer = TallyObserver(session.state)
    session.attach(observer)
    for one in middleware { session.appendMiddleware(one) }
  }

  mutating func play() throws(LogError) -> SessionScript.Outcome {
    let end = (script.duration ?? SessionScript.longestDuration).clampedNanoseconds
    for entry in script.calls {
      let time = max(entry.time.clampedNanoseconds, world.elapsedNanoseconds)
      guard time <= end else { break }
      if entry.isSettled {
        run(through: time)
      } else if time > world.elapsedNanoseconds {
        run(through: time - 1)
      }
      world.move(toNanoseconds: time)
      try make(entry.call)
    }
    run(through: end)
    var outcome = observer.tally.outcome
    outcome.isCutOff = isOver
    return outcome
  }

  private var isOver: Bool { observer.tally.eventCount >= script.eventLimit }

  private func run(through time: Int64) { world.run(throughNanoseconds: time) { isOver } }

  private mutating func make(_ call: SessionScript.Call) throws(LogError) {
    switch call {
    case .start: session.start()
    case .stop: session.stop()
    case .reset: session.reset()
    case .modify(let operation, let number): name(try submit(operation), as: number)
    case .fetch(let operation, let number): name(session.fetch(operation), as: number)
    case .cancel(let number): if let id = operation(numbered: number) { session.cancel(id) }
    case .retryNow: session.retryNow()
    case .connectivityChanged: session.connectivityChanged()
    case .retryParked(let ids): session.retryParked(ids)
    case .dropParked(let ids): session.dropParked(ids)
    case .acknowledge(let page, let answer): session.acknowledge(page, answer)
    case .attachAccountProvider:
      session.appendMiddleware(AccountStatusMiddleware(player.answerAccount))
    case .accountDidChange: session.accountDidChange()
    case .resolveAccountSwitch(let decision): session.resolveAccountSwitch(decision)
    case .decideZone(let decision): session.decideZone(decision)
    case .closeGate(let wait): session.report(.gateClosed(wait))
    }
  }

  private func submit(_ operation: ModifyOperation) throws(LogError) -> OperationID {
    do {
      return try session.modify(operation)
    } catch {
      throw LogError(.script, log: "script", "a modification was refused: \(error)")
    }
  }

  private mutating func name(_ id: OperationID, as number: UInt64?) {
    if let number { names[number] = id }
  }

  private func operation(numbered number: UInt64) -> OperationID? {
    if let id = names[number] { return id }
    let state = session.state
    return state.modifyQueue.first { $0.id.number == number }?.id
      ?? state.fetchQueue.first { $0.id.number == number }?.id
  }
}

/// Counts what a session comes to while a script is played to it.
private final class TallyObserver: SessionObserver {
  private let contents: Locked<ScriptTally>

  init(_ state: SyncState) { contents = Locked(ScriptTally(state: state)) }

  var tally: ScriptTally { contents.withLock { $0 } }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {
    contents.withLock { $0.begin(with: state) }
  }

  func observe(_ step: ObservedStep) {
    let effects = step.effects.records(in: step.state)
    contents.withLock { $0.process(event: step.record.event, effects: effects, state: step.state) }
  }

  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {}
  func end(_ state: SyncState) {}
}
