import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresStore
import PostgresTestServer
import Synchronization
import Testing

@Suite("PostgresStore: processes that are killed")
struct KillTests {
  private static let rounds = 20

  /// The response of a process to a request, with the token of its round.
  private func modify(
    _ probe: Probe,
    round: Int
  ) throws -> Result<ModifyOperation.Response, SyncError> {
    let operation = ModifyOperation(records: [Client.note("r\(round)")], recordIDsToDelete: [])
    let token = WriteToken(nonce: 7, number: UInt64(round + 1))
    switch try probe.ask(.modify(device: "phone", Client.zoneID, operation, token)) {
    case .modified(let response): return .success(response)
    case .failed(let error): return .failure(error)
    default: return .failure(SyncError(.invalidResponse, "another response"))
    }
  }

  @Test(
    "57. A server process is killed, and its client sends again: every record is there exactly once",
    arguments: [PostgresStep.beginning, .committing, .committed]
  )
  func serverKilled(step: PostgresStep) throws {
    let conninfo = try PostgresServer.shared.get().newSchema()
    let survivor = try Probe(SharedDatabase(conninfo: conninfo))
    _ = try survivor.ask(.createZone(device: "phone", Client.zoneID))
    let reader = Client(try PostgresStore(conninfo: conninfo), device: "reader")
    var token: ChangeToken?
    for round in 0..<Self.rounds {
      let victim = try Probe(SharedDatabase(conninfo: conninfo))
      _ = try victim.ask(.kill(step: step.rawValue))
      #expect(throws: Probe.Death.self) { try modify(victim, round: round) }
      let before = try reader.fetch(token).get()
      #expect(before.changedRecords.count == (step == .committed ? 1 : 0))

      let answer = try modify(survivor, round: round).get()

      let page = try reader.fetch(token).get()
      #expect(page.changedRecords.map(\.recordID.name) == ["r\(round)"])
      #expect(answer.failures.isEmpty)
      #expect(answer.savedRecords.map(\.changeTag) == page.changedRecords.map(\.changeTag))
      token = page.changeToken
    }
    #expect(try reader.names() == (0..<Self.rounds).map { "r\($0)" })
  }

  @Test("59. A process is killed while it holds the account's lock: another one goes on")
  func killedWithLock() throws {
    // So long that it is not this time which lets the other one go on.
    var options = PostgresOptions()
    options.idleTime = .seconds(3_600)
    let conninfo = try PostgresServer.shared.get().newSchema()
    let store = try PostgresStore(conninfo: conninfo, options: options)
    let client = try Client.ready(store)
    for round in 0..<Self.rounds {
      let holder = try Probe(SharedDatabase(conninfo: conninfo))
      _ = try holder.ask(.stay(step: PostgresStep.locked.rawValue))
      let operation = ModifyOperation(records: [Client.note("lost\(round)")], recordIDsToDelete: [])
      let token = WriteToken(nonce: 8, number: UInt64(round))
      let request = ProbeRequest.modify(device: "pad", Client.zoneID, operation, token)
      guard case .stays = try holder.ask(request) else {
        Issue.record("the process does not stay where it was told to")
        return
      }

      let answer = Background {
        client.modify([Client.note("r\(round)")], token: UInt64(round + 1))
      }
      holder.kill()

      // On a busy machine it may have waited for the lock as long as it may: then it comes again.
      var result = answer.value
      for _ in 0..<100 where result.error?.code == .zoneBusy {
        result = client.modify([Client.note("r\(round)")], token: UInt64(round + 1))
      }
      #expect(result.error == nil)
    }
    #expect(try client.names() == (0..<Self.rounds).map { "r\($0)" })
  }

  @Test(
    "58. PostgreSQL is killed: requests fail and say so, and after its start all is well by itself",
    arguments: PostgresStep.allCases
  )
  func databaseKilled(step: PostgresStep) throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let isArmed = Mutex(false)
    let store = try PostgresStore(conninfo: server.conninfo) { found in
      let isNow = isArmed.withLock { isArmed in
        guard isArmed, found == step else { return false }
        isArmed = false
        return true
      }
      if isNow { do { try server.kill() } catch { Issue.record("\(error)") } }
    }
    let client = try Client.ready(store)
    for round in 0..<5 {
      let record = Client.note("r\(round)")
      isArmed.withLock { $0 = true }

      let first = client.modify([record], token: UInt64(round + 1))

      let expected: SyncError.Code? =
        switch step {
        case .beginning, .locked: .serviceUnavailable
        case .committing: .serverResponseLost
        case .committed: nil
        }
      #expect(first.error?.code == expected)
      #expect(client.fetch().error?.code == .serviceUnavailable)
      #expect(client.modify([record], token: 999).error?.code == .serviceUnavailable)
      for error in [first.error, client.fetch().error].compactMap({ $0 }) {
        for word in [server.folder, "postgres", "cloudsync_", "SELECT", "host"] {
          #expect(!"\(error)".contains(word))
        }
      }
      try server.start()
      #expect(client.modify([record], token: UInt64(round + 1)).error == nil)
      #expect(try client.names().count == round + 1)
    }
  }

  @Test("The connection is lost after COMMIT was sent and done: the client sends again, saved once")
  func lostWhileCommitting() throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let store = try PostgresStore(conninfo: server.conninfo)
    let client = try Client.ready(store)
    // A commit is done, and then waits for a standby that does not exist.
    try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try server.execute("SELECT pg_reload_conf()")
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    var number: UInt64 = 0
    var isLost = false
    // The server takes the setting a little later: then the first commit waits, and is cut off.
    while !isLost, number < 10_000 {
      number += 1
      let token = number
      let answer = Background { client.modify([Client.note("r\(token)")], token: token) }
      while !answer.isDone, try server.execute(end).isEmpty {}
      if let error = answer.value.error {
        #expect(error.code == .serverResponseLost)
        isLost = true
      }
    }
    #expect(isLost)

    try server.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try server.execute("SELECT pg_reload_conf()")
    let names = (1...number).map { "r\($0)" }
    #expect(try client.names() == names)
    #expect(client.modify([Client.note("r\(number)")], token: number).error == nil)
    #expect(try client.names() == names)
  }
}
