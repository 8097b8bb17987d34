import Dispatch
import Foundation

/// A process that was run to its end, and what it said.
struct Run {
  let code: Int32
  let output: String
  let errors: String

  /// Runs a program.
  init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    let process = try Running(program, arguments, environment: environment)
    code = process.wait()
    (output, errors) = (process.output, process.errors)
  }
}

/// A process that runs; what it says is in files, so that it never waits for a reader.
final class Running {
  private let process = Process()
  private let folder: Folder
  private let outputPath: String
  private let errorPath: String

  /// Starts a program; what reads its input until the end is given a pipe that has none.
  init(
    _ program: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    hasOpenInput: Bool = false
  ) throws {
    folder = try Folder("run")
    outputPath = folder.path("output")
    errorPath = folder.path("errors")
    for path in [outputPath, errorPath] {
      guard FileManager.default.createFile(atPath: path, contents: nil) else {
        throw TestFailure("\(path) cannot be made")
      }
    }
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if hasOpenInput {
      process.standardInput = Pipe()
    } else {
      process.standardInput = FileHandle.nullDevice
    }
    process.standardOutput = FileHandle(forWritingAtPath: outputPath)
    process.standardError = FileHandle(forWritingAtPath: errorPath)
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var isRunning: Bool { process.isRunning }
  var processID: Int32 { process.processIdentifier }
  var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }

  /// Waits until something is so; throws if the process ends before.
  func wait(until isSo: (Running) -> Bool) throws {
    try Pause.wait("a process") {
      if isSo(self) { return true }
      guard isRunning else { throw TestFailure("the process has ended: \(output)\(errors)") }
      return false
    }
  }
}

/// Lets others go on, for loops that wait for what another process does.
enum Pause {
  static func short() {
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5))
  }

  /// Waits until something is so: for minutes if it must be, and not for ever.
  static func wait(_ what: String, until isSo: () throws -> Bool) throws {
    for _ in 0..<60_000 {
      if try isSo() { return }
      short()
    }
    throw TestFailure("waited in vain for \(what)")
  }
}
