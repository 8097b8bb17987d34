import Foundation

// The figures of the server on SQLite, each beside what it is held against in the same run:
//
//   swift run -c release server-benchmarks [--seconds N] [--devices N] [--polls N]

var seconds = 120
var deviceCount = 500
var pollCount = 5_000
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else {
    print("usage: server-benchmarks [--seconds N] [--devices N] [--polls N]")
    exit(2)
  }
  switch word {
  case "--seconds": seconds = number
  case "--devices": deviceCount = number
  case "--polls": pollCount = number
  default:
    print("there is no option \(word)")
    exit(2)
  }
}

var files = rlimit()
getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
files.rlim_cur = files.rlim_max
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)

func row(_ what: String, _ found: String, _ baseline: String, _ target: String) {
  print("| \(what) | \(found) | \(baseline) | \(target) |")
}

func whole(_ number: Double) -> String { "\(Int(number.rounded()))" }

func ratio(_ number: Double, _ base: Double) -> String {
  "\(Double(Int((number / base * 100).rounded())) / 100)"
}

/// The middle of three.
func median(_ body: () throws -> Double) rethrows -> Double {
  try (0..<3).map { _ in try body() }.sorted()[1]
}

do {
  print("| what | server | baseline | target |\n|---|---|---|---|")
  let server = try BenchServer()
  let crowd = 8
  var tokens: [String] = []
  for number in 0..<crowd { tokens += try await server.tokens("account-\(number)", count: 1) }
  let one = tokens
  for token in one { try server.makeZone(token) }
  let port = server.port
  let adminPort = server.adminPort

  var round = 0
  // In turns, since a disk that others use is not the same from one second to the next.
  var pairs: [(plain: Double, single: Double)] = []
  for _ in 0..<5 {
    round += 1
    let number = round
    let folder = "\(server.folder)/plain-\(round)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let plain = try Baselines.plainCommits(in: folder, count: 500)
    let single = try Baselines.perSecond(crowd * 60) {
      try Crowd.run(crowd) { place in
        let client = try BenchClient(port: port)
        for request in 0..<60 {
          let save = BenchServer.save(
            ["s-\(number)-\(request)"],
            token: one[place],
            writeToken: "\(String(number, radix: 16))-\(String(request + 1, radix: 16))"
          )
          try client.ask(save)
        }
      }
    }
    pairs.append((plain, single))
  }
  pairs.sort { $0.single / $0.plain < $1.single / $1.plain }
  let (plain, single) = pairs[2]
  row(
    "one-record saves, 8 devices",
    "\(whole(single))/s, \(ratio(single, plain)) of plain",
    "\(whole(plain)) plain commits/s, FULL",
    "≥ 0.35 of plain"
  )

  let inProcess = try Baselines.inProcess(in: server.folder, requests: 100)
  let batches = try median {
    round += 1
    let number = round
    let client = try BenchClient(port: port)
    let messages = (0..<50)
      .map { request in
        BenchServer.save(
          (0..<200).map { "b-\(number)-\(request)-\($0)" },
          token: one[0],
          writeToken: "\(String(number, radix: 16))-\(String(request + 1, radix: 16))"
        )
      }
    return try Baselines.perSecond(50 * 200) {
      for message in messages { try client.ask(message) }
    }
  }
  row(
    "200-record saves, 1 device",
    "\(whole(batches)) records/s",
    "\(whole(inProcess.saved)) in process",
    "≥ 15,000"
  )

  var count = 0
  var last = ""
  let pages = try Baselines.perSecond(1) {
    let client = try BenchClient(port: port)
    while true {
      let page = try client.ask(BenchServer.fetch(one[0], after: last.isEmpty ? nil : last))
      last = BenchServer.syncToken(page)
      count += 200
      if page.firstRange(of: Array("\"moreComing\":true".utf8)) == nil { break }
    }
  }
  row(
    "pages of 200, 1 device",
    "\(whole(pages * Double(count))) records/s",
    "\(whole(inProcess.fetched)) in process",
    "≥ 40,000"
  )

  let (end, token) = (last, one[0])
  let constant = try median {
    try Baselines.perSecond(crowd * 500) {
      try Crowd.run(crowd) { _ in
        let client = try BenchClient(port: adminPort)
        let message = BenchClient.request("GET", "/live")
        for _ in 0..<500 { try client.ask(message) }
      }
    }
  }
  let nothing = try median {
    try Baselines.perSecond(crowd * 500) {
      try Crowd.run(crowd) { _ in
        let client = try BenchClient(port: port)
        let message = BenchServer.fetch(token, after: end)
        for _ in 0..<500 { try client.ask(message) }
      }
    }
  }
  row(
    "fetch with nothing new, 8 connections",
    "\(whole(nothing))/s, \(ratio(nothing, constant)) of it",
    "\(whole(constant))/s of a constant route",
    "≥ 0.3"
  )

  var devices: [String] = []
  for account in 0..<max(1, deviceCount / 5) {
    devices += try await server.tokens("crowd-\(account)", count: 5)
    try server.makeZone(devices[5 * account])
  }
  let times = try Crowd.devices(server, tokens: devices, seconds: seconds)
  let p99 = times[times.count * 99 / 100]
  row(
    "\(deviceCount) devices, 5 records every 10 s each, \(seconds) s",
    "\(times.count) requests, no error; p50 \(whole(times[times.count / 2])) ms, p99 \(whole(p99)) ms",
    "–",
    "no error, p99 ≤ 100 ms"
  )

  let waiting = try await server.tokens("polls", count: pollCount + 1)
  try server.makeZone(waiting[0])
  let polls = try Crowd.polls(server, tokens: waiting, fetching: 100)
  row(
    "\(pollCount) waiting polls",
    "\(polls.bytes / 1_000_000) MB; change to fetch \(whole(polls.first)) ms for the first,"
      + " \(whole(polls.median)) ms for half, \(whole(polls.last)) ms for all",
    "–",
    "≤ 200 MB, ≤ 100 ms"
  )
} catch {
  print("error: \(error)")
  exit(1)
}
