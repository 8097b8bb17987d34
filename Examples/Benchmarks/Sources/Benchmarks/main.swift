import CloudSyncSession
import Foundation

// A process that a section starts to see how much memory it needs.
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "peak" {
  let path = CommandLine.arguments[3]
  try Peak.measure {
    switch CommandLine.arguments[2] {
    case "fold": try ReadingBenchmarks.fold(path)
    case "clone": try HistoryBenchmarks.clone(path, into: path + ".copy", device: "peak")
    default: try UploadBenchmarks.upload(path)
    }
  }
  exit(0)
}

// Work for a tool that counts instructions.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "count" {
  switch CommandLine.arguments[2] {
  case "chain": try Counted.chain()
  case "batches": try Counted.batches()
  case "reduce": try Counted.reduce()
  case "digests": try Counted.recording(.digests())
  case "values": try Counted.recording(.none)
  default:
    print("error: count what? chain, batches, reduce, digests or values")
    exit(2)
  }
  exit(0)
}

let table = Table()
/// The sections that the arguments name; all if there are none.
let wanted = CommandLine.arguments.dropFirst()

func section(_ name: String, _ body: () throws -> Void) rethrows {
  if wanted.isEmpty || wanted.contains(name) { try body() }
}

func add(_ name: String, _ target: String, _ figure: String, _ isReached: Bool) {
  table.add(Measurement(name: name, target: target, figure: figure, isReached: isReached))
}

let skeleton = Skeleton.nanosecondsPerEvent()
print("baseline: a chain of eight steps that only pass on, \(skeleton.rounded(0)) ns an event")

// First, while no memory has been freed that could be used again.
try section("memory") {
  let memory = try SessionBenchmarks.memoryPerOperation(200_000)
  add(
    "memory of a queued operation above its record",
    "200 bytes",
    "\(memory.rounded(0)) bytes",
    memory <= 200
  )
}
try section("chain") {
  let small = try ChainBenchmarks.throughput(queued: 1_000, operations: 50_000)
  add(
    "events through the whole chain, 1,000 queued",
    "600,000 events/s",
    "\(small.allEventsPerSecond.grouped) events/s, \(small.perOperation.rounded(0)) ns an operation",
    small.allEventsPerSecond >= 600_000
  )
  let large = try ChainBenchmarks.throughput(queued: 1_000_000, operations: 50_000)
  let ratio = large.perOperation / small.perOperation
  add(
    "the same with 1,000,000 queued",
    "at most 2 times the time",
    "\(ratio.rounded(2)) times, \(large.allEventsPerSecond.grouped) events/s",
    ratio <= 2
  )
}
try section("reduce") {
  for depth in [1_000, 1_000_000] {
    let (nanoseconds, longest) = try ReduceBenchmarks.run(depth: depth, completions: 50_000)
    add(
      "pure reduce, \(Double(depth).grouped) queued",
      "0.5 µs an event, none over 10 ms",
      "\((nanoseconds / 1000).rounded(3)) µs, longest \((longest / 1e6).rounded(3)) ms",
      nanoseconds <= 500 && longest <= 1e7
    )
  }
}
try section("drain") {
  let drain = try SessionBenchmarks.drain(10_000)
  add(
    "10,000 one-record edits, then start()",
    "50 ms, 26 requests",
    "\(drain.milliseconds.rounded(1)) ms, \(drain.requests) requests",
    drain.milliseconds <= 50 && drain.requests <= 26
  )
}
try section("large") {
  let operation = try ReduceBenchmarks.largeOperation(100_000)
  add(
    "one 100,000-record modification",
    "60 ms on the caller, 1 ms on the session",
    "\((operation.caller / 1e6).rounded(1)) ms and \((operation.session / 1e6).rounded(3)) ms",
    operation.caller <= 60e6 && operation.session <= 1e6
  )
}
try section("failure") {
  let failure = try SessionBenchmarks.partialFailure()
  add(
    "partial failure of 400 records, 200 conflicts, 20 fields",
    "1 ms to the next request",
    "\(failure.rounded(3)) ms",
    failure <= 1
  )
}
try section("snapshot") {
  let snapshot = try SessionBenchmarks.snapshot(100_000)
  add(
    "snapshot of 100,000 queued operations",
    "200 ms to write and read",
    "\(snapshot.encode.rounded(1)) + \(snapshot.decode.rounded(1)) ms, \(snapshot.bytes / 1_000) kB",
    snapshot.encode + snapshot.decode <= 200
  )
}
try section("recording") { try LogSections.recording() }
try section("logfile") { try LogSections.file() }
try section("logread") { try LogSections.reading() }
try section("rerun") { try LogSections.rerun() }
try section("jump") { try LogSections.jump() }
try section("report") { try LogSections.report() }
try section("cloud") { try CloudSections.saves() }
try section("feed") { try CloudSections.feed() }
if wanted.contains("scaling") { try ScalingSection.run(wanted.dropFirst()) }
section("simulate") { SimulatorSections.simulations() }
try section("capture") { try SQLiteSections.capture() }
try section("apply") { try SQLiteSections.apply() }
try section("upload") { try SQLiteSections.upload() }
try section("copy") { try SQLiteSections.copy() }
try section("peak") { try SQLiteSections.peak() }
try section("latency") { try SQLiteSections.latency() }
try section("history") { try HistoryBenchmarks.run() }
table.printMarkdown()
