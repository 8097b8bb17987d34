import CloudSyncEventLog
import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs a seed in another process too: it must give the same event logs, byte for byte.
///
/// Within one process the order of a dictionary, say, is always the same, in another it is not.
struct ProcessCheck {
  /// The tool itself; nil if the running program is another, as the one of the tests.
  private let executable: String?

  /// Takes a program that understands what the tool does.
  init(executable: String) { self.executable = executable }

  init(program: String = CommandLine.arguments.first ?? "") {
    let name = program.split(separator: "/").last ?? ""
    #if os(Linux)
    executable = name.hasPrefix("cloudsync") ? "/proc/self/exe" : nil
    #else
    executable = name.hasPrefix("cloudsync") && program.contains("/") ? program : nil
    #endif
  }

  /// Runs the seed; returns what differs, and whether it could be tried at all.
  func difference(options: SimulationOptions) throws -> (isTried: Bool, text: String?) {
    guard let executable else { return (false, nil) }
    let folder = try NewFolder.makeTemporary(for: "simulate", option: "--log-dir")
    let logs = "\(folder)/logs"
    // What cannot be removed stays where the system removes it.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let status = try Self.run(at: executable, with: options.arguments + ["--log-dir", logs])
    guard status == 0 else { return (true, "another process ended with exit code \(status)") }
    var kept = options
    kept.keepsLogs = true
    let outcome = kept.run()
    let names = try FileManager.default.contentsOfDirectory(atPath: logs)
    guard names.count == outcome.logs.count else {
      return (true, "another process has \(names.count) logs, this one \(outcome.logs.count)")
    }
    for log in outcome.logs {
      let name = LogFolder.name(of: log, seed: options.seed)
      guard FileManager.default.contents(atPath: "\(logs)/\(name)") == log.data else {
        return (true, "another process has another \(name)")
      }
    }
    return (true, nil)
  }

  #if os(tvOS) || os(watchOS)
  /// These systems start no other process.
  private static func run(at path: String, with arguments: [String]) throws -> Int32 {
    throw ToolError.failure("the seed cannot be run in another process: this system starts none")
  }
  #else
  /// Runs a program without output, and returns its exit code.
  private static func run(at path: String, with arguments: [String]) throws -> Int32 {
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = (["cloudsync"] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    // Without the environment, which must change nothing either.
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    let code = posix_spawn(&process, path, &actions, nil, &words, &environment)
    guard code == 0 else {
      throw ToolError.failure(
        "the seed cannot be run in another process: \(String(cString: strerror(code)))"
      )
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else {
        throw ToolError.failure(
          "the other process cannot be waited for: \(String(cString: strerror(errno)))"
        )
      }
    }
    // The exit code is in the second byte; a signal, if one ended it, in the lowest bits.
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }
  #endif
}
