#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// This program once more, as a process of its own.
struct ChildProcess {
  /// What it printed, errors included.
  var output: String
  /// The status that it exited with; nil if it was killed.
  var status: Int32?

  /// Runs the program to its end, or until it has printed something: then it is killed as
  /// `kill -9` does, without a chance to do anything more.
  init(_ arguments: [String], killedWhenItPrints text: String? = nil) throws(NotesError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw FileAccess.failure("open", "a pipe") }
    let child = try Self.spawn(arguments, writingTo: ends[1])
    close(ends[1])
    output = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      guard count > 0 else { break }
      output += String(decoding: buffer[..<count], as: UTF8.self)
      if let text, output.contains(text) { kill(child, SIGKILL) }
    }
    close(ends[0])
    var result: Int32 = 0
    while waitpid(child, &result, 0) < 0 {
      guard errno == EINTR else { throw FileAccess.failure("wait for", "a child process") }
    }
    status = result & 0x7f == 0 ? (result >> 8) & 0xff : nil
  }

  private static func spawn(
    _ arguments: [String],
    writingTo descriptor: Int32
  ) throws(NotesError) -> pid_t {
    let program = try executable()
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDERR_FILENO)
    var child: pid_t = 0
    let code = posix_spawn(&child, program, &actions, nil, words, environ)
    guard code == 0 else {
      throw NotesError("cannot run \(program): \(String(cString: strerror(code)))")
    }
    return child
  }

  /// Where this program is.
  private static func executable() throws(NotesError) -> String {
    #if canImport(Darwin)
    let name = CommandLine.arguments[0]
    #else
    let name = "/proc/self/exe"
    #endif
    guard let path = realpath(name, nil) else { throw FileAccess.failure("find", name) }
    defer { free(path) }
    return String(cString: path)
  }
}
