import CloudSyncServer
import Foundation
import Synchronization

/// The server as a process of its own.
final class BenchServer {
  let folder: String
  private let process = Process()
  private(set) var port = 0
  private(set) var adminPort = 0

  static let base = "/database/1/cloudsync/production/private/"
  static let zone = #""zoneID":{"zoneName":"Notes"}"#

  init() throws {
    var template = Array(
      "\(FileManager.default.temporaryDirectory.path)/server-bench-XXXXXX".utf8CString
    )
    guard mkdtemp(&template) != nil else { throw BenchmarkFailure("no folder") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("cloudsync-server")
    process.arguments = [
      "serve", "--data", folder + "/data", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
      "--rate", "100000",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    while text.split(separator: "\n").count < 2 {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw BenchmarkFailure("the server has ended") }
      text += String(decoding: data, as: UTF8.self)
    }
    for line in text.split(separator: "\n") {
      let number = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
      if line.hasPrefix("devices") { port = number } else { adminPort = number }
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Makes tokens for devices of an account.
  func tokens(_ account: String, count: Int) async throws -> [String] {
    let found = Mutex("")
    let console = ServerConsole(output: { line in found.withLock { $0 += line } }, errors: { _ in })
    let words = [
      "token", "add", "--data", folder + "/data", "--account", account, "--device", "device",
      "--count", "\(count)",
    ]
    guard await ServerCommand.run(words, console: console) == 0 else {
      throw BenchmarkFailure("no token")
    }
    return found.withLock { $0.split(separator: "\n").map(String.init) }
  }

  func makeZone(_ token: String) throws {
    let body = "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\(Self.zone)}}]}"
    try BenchClient(port: port)
      .ask(BenchClient.request("POST", Self.base + "zones/modify", token: token, body: body))
  }

  /// The memory that the server has in use.
  func residentBytes() throws -> Int {
    let text = String(
      decoding: try BenchClient(port: adminPort).ask(BenchClient.request("GET", "/metrics")),
      as: UTF8.self
    )
    return text.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes") }
      .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
  }

  /// A request that saves new records.
  static func save(_ names: [String], token: String, writeToken: String) -> [UInt8] {
    let text = String(repeating: "a", count: 100)
    let operations = names.map {
      #"{"operationType":"create","record":{"recordName":"\#($0)","recordType":"Note","fields":"#
        + #"{"text":{"value":"\#(text)","type":"STRING"},"rank":{"value":1.5,"type":"DOUBLE"}}}}"#
    }
    let body = "{\"atomic\":false,\(zone),\"operations\":[\(operations.joined(separator: ","))]}"
    return BenchClient.request(
      "POST",
      base + "records/modify",
      token: token,
      writeToken: writeToken,
      body: body
    )
  }

  static func fetch(_ token: String, after syncToken: String? = nil) -> [UInt8] {
    let after = syncToken.map { ",\"syncToken\":\"\($0)\"" } ?? ""
    return BenchClient.request(
      "POST",
      base + "changes/zone",
      token: token,
      body: "{\"zones\":[{\(zone)\(after)}]}"
    )
  }

  /// The token at the end of a page.
  static func syncToken(_ page: ArraySlice<UInt8>) -> String {
    let text = String(decoding: page, as: UTF8.self)
    guard let start = text.range(of: "\"syncToken\":\"")?.upperBound else { return "" }
    return String(text[start...].prefix { $0 != "\"" })
  }
}
