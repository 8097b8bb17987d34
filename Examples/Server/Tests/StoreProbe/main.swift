import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresStore
import PostgresTestServer
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// What is to happen at a step.
enum Accident: Sendable {
  case death(String)
  case stay(String)
}

func say(_ answer: ProbeAnswer) throws {
  try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(answer) + [0x0a])
}

func say<Value>(_ result: Result<Value, SyncError>, as body: (Value) -> ProbeAnswer) {
  // Whoever asked may be gone: then the input ends too.
  switch result {
  case .success(let value): try? say(body(value))
  case .failure(let error): try? say(.failed(error))
  }
}

/// What is to happen next; only the store in PostgreSQL tells its steps.
let accident = Mutex<Accident?>(nil)

func store(kind: String, at place: String) throws -> any LocalCloudStore {
  switch kind {
  case "sqlite": return try SQLiteStore(path: place)
  case "postgres":
    return try PostgresStore(conninfo: place) { step in
      switch accident.withLock({ $0 }) {
      case .death(step.rawValue): kill(getpid(), SIGKILL)
      case .stay(step.rawValue):
        try? say(.stays)
        while true { pause() }
      default: break
      }
    }
  default: throw SyncError(.invalidArguments, "“\(kind)” is no store: name sqlite or postgres")
  }
}

func serve(_ store: any LocalCloudStore) throws {
  let cloud = LocalCloud(store: store)
  let account = AccountIdentity("alice")
  let context = RequestContext(
    attempt: Attempt(epoch: 1, number: 1),
    writeToken: WriteToken(nonce: 1, number: 1),
    deadline: .distantFuture
  )
  try say(.done(true))
  while let line = readLine() {
    let request = try JSONDecoder().decode(ProbeRequest.self, from: Data(line.utf8))
    func connect(_ device: String, _ zoneID: ZoneID) -> LocalCloudConnection {
      cloud.connect(device: device, account: account, zoneID: zoneID)
    }
    switch request {
    case .createZone(let device, let zoneID):
      connect(device, zoneID)
        .handle(createZoneOperation: CreateZoneOperation(zoneID: zoneID), context: context) {
          say($0, as: ProbeAnswer.done)
        }
    case .subscribe(let device, let zoneID):
      let operation = CreateSubscriptionOperation(zoneID: zoneID)
      connect(device, zoneID)
        .handle(createSubscriptionOperation: operation, context: context) {
          say($0, as: ProbeAnswer.done)
        }
    case .modify(let device, let zoneID, let operation, let token):
      let context = RequestContext(
        attempt: context.attempt,
        writeToken: token,
        deadline: .distantFuture
      )
      connect(device, zoneID)
        .handle(modifyOperation: operation, context: context) { say($0, as: ProbeAnswer.modified) }
    case .fetch(let device, let zoneID, let operation):
      connect(device, zoneID)
        .handle(fetchOperation: operation, context: context) { say($0, as: ProbeAnswer.fetched) }
    case .deleteZone(let zoneID, let reason):
      let reason = ZoneDeletionReason(rawValue: reason) ?? .deleted
      try say(.done(cloud.deleteZone(zoneID, account: account, reason: reason)))
    case .kill(let step):
      accident.withLock { $0 = .death(step) }
      try say(.done(true))
    case .stay(let step):
      accident.withLock { $0 = .stay(step) }
      try say(.done(true))
    }
  }
}

// Whatever happens to the test that started it, the process ends.
alarm(1_200)
do {
  guard CommandLine.arguments.count == 3 else {
    throw SyncError(.invalidArguments, "name a kind of store, and its file or connection")
  }
  try serve(store(kind: CommandLine.arguments[1], at: CommandLine.arguments[2]))
} catch {
  try? FileHandle.standardError.write(contentsOf: Data("store-probe: \(error)\n".utf8))
  exit(1)
}
