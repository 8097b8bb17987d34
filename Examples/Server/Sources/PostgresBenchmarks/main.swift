import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresStore
import PostgresTestServer
import Synchronization

// Figures of the store in PostgreSQL, each beside what the database does without it, in the same run.

let writers = 8
let seconds = 3.0

/// How often something is done in a second by several threads at once, each with a number.
func rate(_ body: @escaping @Sendable (_ writer: Int, _ round: Int) throws -> Void) -> Double {
  let count = Mutex(0)
  let failures = Mutex<[String]>([])
  let group = DispatchGroup()
  let begin = ContinuousClock.now
  for writer in 0..<writers {
    group.enter()
    Thread.detachNewThread {
      var round = 0
      do {
        while ContinuousClock.now - begin < .seconds(seconds) {
          try body(writer, round)
          round += 1
        }
      } catch { failures.withLock { $0.append("\(error)") } }
      count.withLock { $0 += round }
      group.leave()
    }
  }
  group.wait()
  if let failure = failures.withLock({ $0.first }) {
    print("error: \(failure)")
    exit(1)
  }
  let time = (ContinuousClock.now - begin).components
  return Double(count.withLock { $0 }) / (Double(time.seconds) + Double(time.attoseconds) / 1e18)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Saves of so many records a request, one account and device a thread.
func saves(_ store: PostgresStore, run: Int, records: Int) -> Double {
  let cloud = LocalCloud(store: store)
  let zoneID = ZoneID(name: "Notes")
  let devices = (0..<writers)
    .map { writer in
      cloud.connect(
        device: "device",
        account: AccountIdentity("run \(run) of \(records), account \(writer)"),
        zoneID: zoneID
      )
    }
  let context: @Sendable (UInt64) -> RequestContext = { number in
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 1, number: number),
      deadline: .distantFuture
    )
  }
  let errors = Mutex<[SyncError]>([])
  let check: @Sendable (SyncError?) throws -> Void = { if let error = $0 { throw error } }
  for device in devices {
    device.handle(createZoneOperation: CreateZoneOperation(zoneID: zoneID), context: context(0)) {
      if case .failure(let error) = $0 { errors.withLock { $0.append(error) } }
    }
  }
  return rate { writer, round in
    let edits = (0..<records)
      .map { number in
        Record(
          recordType: "Note",
          recordID: RecordID(name: "r\(round)x\(number)", zoneID: zoneID),
          fields: ["text": .string("a note of some forty bytes, as notes are"), "stars": 3]
        )
      }
    let operation = ModifyOperation(records: edits, recordIDsToDelete: [])
    devices[writer]
      .handle(modifyOperation: operation, context: context(UInt64(round + 1))) { answer in
        switch answer {
        case .failure(let error): errors.withLock { $0.append(error) }
        case .success(let response):
          errors.withLock { $0 += response.failures.map(\.error) }
        }
      }
    try check(errors.withLock { $0.first })
  } * Double(records)
}

func measure() throws {
  let server = try PostgresServer(isDurable: true)
  defer { server.stop() }
  let store = try PostgresStore(conninfo: try server.newDatabase())
  let plain = try PlainInserts(conninfo: try server.newDatabase(), count: writers)
  var inserts: [Double] = []
  var single: [Double] = []
  var many: [Double] = []
  for run in 0..<4 {
    let figures = (
      rate { writer, round in try plain.insert(writer: writer, number: round + run << 32) },
      saves(store, run: run, records: 1), saves(store, run: run, records: 200)
    )
    // The first run warms caches and plans.
    if run == 0 { continue }
    inserts.append(figures.0)
    single.append(figures.1)
    many.append(figures.2)
  }
  let ratio = median(single) / median(inserts)
  print("| what | target | measured | |")
  print("| --- | --- | --- | --- |")
  print("| plain lock and insert, \(writers) connections | – | \(Int(median(inserts)))/s | |")
  print(
    "| one-record saves, \(writers) connections | 0.15 of plain | \(Int(median(single)))/s,"
      + " \(Int(ratio * 100)) % of plain | \(ratio >= 0.15 ? "✔" : "✘") |"
  )
  print(
    "| 200-record saves, \(writers) connections | 8,000 records/s | \(Int(median(many))) records/s"
      + " | \(median(many) >= 8_000 ? "✔" : "✘") |"
  )
}

do { try measure() } catch {
  print("error: \(error)")
  exit(1)
}
