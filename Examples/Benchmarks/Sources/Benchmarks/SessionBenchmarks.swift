#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#endif

import CloudSyncSession
import Dispatch

/// Whole sessions: draining a queue, a partial failure, memory, snapshots.
enum SessionBenchmarks {
  /// Queues edits, starts a live session, and waits until all are announced.
  static func drain(_ count: Int) throws -> (milliseconds: Double, requests: Int) {
    let operations = World.operations(count)
    var times: [Double] = []
    var requests = 0
    for _ in 0..<5 {
      let handler = BenchmarkHandler(answersAtOnce: true)
      let session = CloudSyncSession(operationHandler: handler, zoneID: World.zoneID)
      let done = DispatchSemaphore(value: 0)
      session.modifyWorkCompletedSubject.sink { operation, _ in
        if operation.id.number == UInt64(count) { done.signal() }
      }
      for operation in operations { try session.modify(operation) }
      let clock = ContinuousClock()
      let start = clock.now
      session.start()
      done.wait()
      times.append((clock.now - start).nanoseconds / 1e6)
      requests = handler.requests
    }
    return (times.sorted()[2], requests)
  }

  /// From a partial failure of 400 records, half of them conflicts, to the next request.
  static func partialFailure() throws -> Double {
    var times: [Double] = []
    for _ in 0..<9 {
      let handler = BenchmarkHandler(answersAtOnce: false)
      let session = CloudSyncSession(
        operationHandler: handler,
        zoneID: World.zoneID,
        environment: World.immediate
      )
      session.start()
      let records = (0..<400).map { World.record($0, fields: 20) }
      handler.answer = { operation in .failure(failure(of: operation)) }
      try session.modify(ModifyOperation(records: records))
      let clock = ContinuousClock()
      let start = clock.now
      handler.answerNow()
      times.append((clock.now - start).nanoseconds / 1e6)
      precondition(handler.requests == 2)
    }
    return times.sorted()[4]
  }

  private static func failure(of operation: ModifyOperation) -> SyncError {
    let items = operation.records.enumerated()
      .map { index, record in
        guard index % 2 == 0 else {
          return ItemFailure(record.recordID, SyncError(.batchRequestFailed))
        }
        var server = record.withChangeTag("2")
        for field in 0..<20 where field % 2 == 0 { server["field\(field)"] = -1 }
        return ItemFailure(
          record.recordID,
          SyncError(.serverRecordChanged, serverRecord: server, ancestorRecord: record)
        )
      }
    return SyncError(.partialFailure, itemErrors: items)
  }

  /// Bytes of memory for a queued operation, above its record.
  static func memoryPerOperation(_ count: Int) throws -> Double {
    let records = (0..<count).map { World.record($0) }
    let handler = BenchmarkHandler(answersAtOnce: false)
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: World.zoneID,
      environment: World.immediate
    )
    let before = residentBytes()
    for record in records { try session.modify(ModifyOperation(records: [record])) }
    let after = residentBytes()
    precondition(session.state.progress.submitted == records.count)
    return Double(after - before) / Double(count)
  }

  /// The memory that the process has now.
  static func residentBytes() -> Int {
    #if os(Linux)
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var total = 0
    var resident = 0
    _ = withUnsafeMutablePointer(to: &total) { total in
      withUnsafeMutablePointer(to: &resident) { resident in
        withVaList([total, resident]) { vfscanf(file, "%ld %ld", $0) }
      }
    }
    return resident * 4096
    #else
    return 0
    #endif
  }

  /// A snapshot of queued operations: what writing and reading it take together.
  static func snapshot(_ count: Int) throws -> (encode: Double, decode: Double, bytes: Int) {
    let session = CloudSyncSession(
      operationHandler: BenchmarkHandler(answersAtOnce: false),
      zoneID: World.zoneID,
      environment: World.immediate
    )
    for operation in World.operations(count) { try session.modify(operation) }
    var encodes: [Double] = []
    var decodes: [Double] = []
    var bytes = 0
    let clock = ContinuousClock()
    for _ in 0..<5 {
      let box = Box(Data())
      var start = clock.now
      session.snapshot { box.value = $0 }
      encodes.append((clock.now - start).nanoseconds / 1e6)
      bytes = box.value.count
      start = clock.now
      let archive = try SyncArchive(box.value)
      decodes.append((clock.now - start).nanoseconds / 1e6)
      precondition(archive.state.progress.submitted == count)
    }
    return (encodes.sorted()[2], decodes.sorted()[2], bytes)
  }
}
