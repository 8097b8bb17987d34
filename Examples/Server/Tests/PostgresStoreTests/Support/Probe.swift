import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresTestServer
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// A process of its own that has a store, and does what it is asked.
final class Probe: Sendable {
  /// The process ended before it answered.
  struct Death: Error {}

  private struct State {
    var input: FileHandle
    var output: FileHandle
    var rest = Data()
  }

  /// Kept as long as the process has it.
  private let database: SharedDatabase
  private let process: Process
  private let state: Mutex<State>

  init(_ database: SharedDatabase) throws {
    self.database = database
    // Whoever is written to may be dead.
    signal(SIGPIPE, SIG_IGN)
    let input = Pipe()
    let output = Pipe()
    process = Process()
    process.executableURL = try FileManager.default
      .destinationOfSymbolicLink(atPath: "/proc/self/exe")
      .split(separator: "/").dropLast()
      .reduce(into: URL(fileURLWithPath: "/")) { $0.appendPathComponent(String($1)) }
      .appendingPathComponent("store-probe")
    process.arguments = database.words
    process.standardInput = input
    process.standardOutput = output
    state = Mutex(
      State(input: input.fileHandleForWriting, output: output.fileHandleForReading)
    )
    try process.run()
    _ = try state.withLock { try Self.answer(&$0) }
  }

  deinit { kill() }

  /// Ends the process at once.
  func kill() {
    guard process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks, and waits for the response.
  func ask(_ request: ProbeRequest) throws -> ProbeAnswer {
    let line = try JSONEncoder().encode(request) + [0x0a]
    return try state.withLock { state in
      do { try state.input.write(contentsOf: line) } catch { throw Death() }
      return try Self.answer(&state)
    }
  }

  private static func answer(_ state: inout State) throws -> ProbeAnswer {
    while true {
      if let end = state.rest.firstIndex(of: 0x0a) {
        let line = state.rest[state.rest.startIndex..<end]
        state.rest = Data(state.rest[(end + 1)...])
        return try JSONDecoder().decode(ProbeAnswer.self, from: Data(line))
      }
      let more = state.output.availableData
      if more.isEmpty { throw Death() }
      state.rest += more
    }
  }
}

/// Gives every request to the next process in turn, as a proxy does.
final class AlternatingHandler: OperationHandler {
  private let probes: [Probe]
  private let turn: Turn
  private let device: String
  private let zoneID: ZoneID

  /// Whose turn it is, for all devices together.
  final class Turn: Sendable {
    private let number = Mutex(0)
    func next(of count: Int) -> Int {
      number.withLock { number in
        number += 1
        return number % count
      }
    }
  }

  init(_ probes: [Probe], turn: Turn, device: String, zoneID: ZoneID) {
    self.probes = probes
    self.turn = turn
    self.device = device
    self.zoneID = zoneID
  }

  private func ask<Value: Sendable>(
    _ request: ProbeRequest,
    completion: @Sendable (Result<Value, SyncError>) -> Void,
    body: (ProbeAnswer) -> Value?
  ) {
    do {
      let answer = try probes[turn.next(of: probes.count)].ask(request)
      if case .failed(let error) = answer { return completion(.failure(error)) }
      if let value = body(answer) { return completion(.success(value)) }
    } catch {}
    completion(.failure(SyncError(.internalError, "the process gave no response that fits")))
  }

  func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    ask(.createZone(device: device, operation.zoneID), completion: completion) {
      if case .done(let isDone) = $0 { isDone } else { nil }
    }
  }

  func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    ask(.subscribe(device: device, operation.zoneID), completion: completion) {
      if case .done(let isDone) = $0 { isDone } else { nil }
    }
  }

  func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let request = ProbeRequest.modify(
      device: device,
      zoneID,
      operation,
      context.writeToken
    )
    ask(request, completion: completion) {
      if case .modified(let response) = $0 { response } else { nil }
    }
  }

  func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    ask(.fetch(device: device, zoneID, operation), completion: completion) {
      if case .fetched(let response) = $0 { response } else { nil }
    }
  }
}
