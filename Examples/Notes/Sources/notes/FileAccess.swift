#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files as this program needs them: read whole, replaced in one step, appended to, locked.
enum FileAccess {
  /// The bytes of a file; nil if there is none.
  static func read(_ path: String) throws(NotesError) -> Data? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("read", path)
    }
    defer { close(descriptor) }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unistdRead(descriptor, &buffer)
      if count == 0 { return data }
      guard count > 0 else { throw failure("read", path) }
      data.append(contentsOf: buffer[..<count])
    }
  }

  /// Replaces a file: a reader finds all of the old bytes or all of the new, also after a crash.
  static func replace(_ path: String, with data: Data) throws(NotesError) {
    close(try replacing(path, with: data))
  }

  /// Replaces a file as `replace` does, and leaves it open to be appended to.
  static func replacing(_ path: String, with data: Data) throws(NotesError) -> Int32 {
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure("write", beside) }
    do throws(NotesError) {
      try write(data, to: descriptor, at: beside)
      guard sync(descriptor), rename(beside, path) == 0 else { throw failure("write", path) }
      try syncFolder(of: path)
    } catch {
      close(descriptor)
      unlink(beside)
      throw error
    }
    return descriptor
  }

  /// Writes all the bytes, or throws.
  static func write(_ data: Data, to descriptor: Int32, at path: String) throws(NotesError) {
    let bytes = [UInt8](data)
    var offset = 0
    while offset < bytes.count {
      let count = unistdWrite(descriptor, bytes[offset...])
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write", path) }
      offset += count
    }
  }

  /// Creates a folder, with those that it lies in.
  static func createFolder(_ path: String) throws(NotesError) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    var prefix = path.hasPrefix("/") ? "" : "."
    for part in parts {
      prefix += "/\(part)"
      if mkdir(prefix, 0o755) != 0, errno != EEXIST { throw failure("create the folder", path) }
    }
    guard isFolder(path) else { throw NotesError("\(path) is not a folder") }
  }

  static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// The folder that a file lies in.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Locks a file until the process ends, however it ends; false if another process has it.
  static func lock(_ path: String) throws(NotesError) -> Bool {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure("open", path) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    let isBusy = errno == EWOULDBLOCK
    close(descriptor)
    guard isBusy else { throw failure("lock", path) }
    return false
  }

  /// Holds the lock of a file while something is done, and waits for it first.
  static func whileLocked<Value>(
    _ path: String,
    _ body: () throws(NotesError) -> Value
  ) throws(NotesError) -> Value {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw failure("lock", path) }
    }
    return try body()
  }

  /// Has what was written survive a loss of power; false if it cannot.
  static func sync(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
    // There fsync leaves the bytes in the drive's memory.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }

  /// Makes a renaming last.
  private static func syncFolder(of path: String) throws(NotesError) {
    let descriptor = open(folder(of: path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open the folder of", path) }
    defer { close(descriptor) }
    guard sync(descriptor) else { throw failure("write the folder of", path) }
  }

  /// What the system says about the call that has just failed.
  static func failure(_ action: String, _ path: String) -> NotesError {
    NotesError("cannot \(action) \(path): \(String(cString: strerror(errno)))")
  }
}

private func unistdRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count >= 0 || errno != EINTR { return count }
  }
}

private func unistdWrite(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
  bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}

/// What the program says.
enum Output {
  /// Prints one line at once: a reader at the other end of a pipe sees it even if we are killed.
  static func line(_ text: String) { line(text, to: STDOUT_FILENO) }

  static func error(_ error: any Error) { line("notes: error: \(error)", to: STDERR_FILENO) }

  private static func line(_ text: String, to descriptor: Int32) {
    // There is nobody to tell that nothing can be told.
    try? FileAccess.write(Data("\(text)\n".utf8), to: descriptor, at: "the output")
  }
}
