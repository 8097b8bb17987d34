import Foundation

/// How much memory something needs at most, in a process of its own that has done nothing else.
enum Peak {
  /// Starts the process; returns kilobytes above what it had before.
  static func ofProcess(_ arguments: [String]) throws -> Int {
    let child = Process()
    child.executableURL = Bundle.main.executableURL
    child.arguments = ["peak"] + arguments
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    return Int(String(decoding: data, as: UTF8.self).split(separator: "\n").last ?? "") ?? -1
  }

  /// What that process does.
  static func measure(_ body: () throws -> Void) throws {
    let before = try kilobytes()
    try body()
    print(try kilobytes() - before)
  }

  /// The most memory that the process has had so far.
  private static func kilobytes() throws -> Int {
    #if canImport(Darwin)
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss / 1024
    #else
    // What getrusage tells on Linux begins with the parent's.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0
    #endif
  }
}
