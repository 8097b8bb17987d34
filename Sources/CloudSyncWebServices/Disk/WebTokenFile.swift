#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// A user's web token in a file that only its owner may read.
///
/// Each new token is written beside the file, flushed and renamed: whatever happens, the file has one whole token, the
/// last or the one before. One process at a time may use it, since two would spend each other's tokens; a file with
/// the ending `.lock` beside it sees to that.
public final class WebTokenFile: WebTokenStore {
  private let path: String
  private let lock: Int32
  /// More than any token has.
  private static let limit = 16_384

  /// Takes a file, which may be missing or empty as long as nobody has signed in.
  ///
  /// - Parameter path: The file.
  /// - Throws: That others may read it, that another process uses it, or that its folder cannot be written.
  public init(path: String) throws(WebTokenStoreError) {
    self.path = path
    // What is wrong with the file is told now, and not with the first request; nothing is made beside it before.
    _ = try Self.token(in: path)
    lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw Self.failure(at: path, "it cannot be used: \(Self.reason())") }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw Self.failure(at: path, "another process uses it; end that one first")
    }
  }

  deinit { close(lock) }

  /// The token that was stored last.
  public func load() throws(WebTokenStoreError) -> Secret? { try Self.token(in: path) }

  private static func token(in path: String) throws(WebTokenStoreError) -> Secret? {
    // Not a pipe, on which it would wait.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw failure(at: path, "it cannot be read: \(reason())") }
    defer { close(file) }
    var facts = stat()
    guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw failure(at: path, "it is no file")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw failure(at: path, "others may read it; say “chmod 600 \(path)”")
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw failure(at: path, "it cannot be read: \(reason())") }
    var text = bytes[..<count]
    while let last = text.last, last <= 0x20 { text.removeLast() }
    if text.isEmpty { return nil }
    guard count <= limit, text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw failure(at: path, "it has no token: one word of letters, digits and signs")
    }
    return Secret(String(decoding: text, as: UTF8.self))
  }

  /// Stores a token in the place of the one before.
  public func save(_ token: Secret) throws(WebTokenStoreError) {
    let beside = path + ".new"
    // What a crash has left may have another mode.
    unlink(beside)
    let file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure(at: path, "it cannot be written: \(Self.reason())") }
    let bytes = Array((token.reveal() + "\n").utf8)
    var isWritten = Self.write(bytes, to: file) && Self.flush(file)
    isWritten = close(file) == 0 && isWritten
    guard isWritten, rename(beside, path) == 0, flushFolder() else {
      let reason = Self.reason()
      unlink(beside)
      throw Self.failure(at: path, "it cannot be written: \(reason)")
    }
  }

  private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...]
        .withUnsafeBytes { buffer in
          #if canImport(Darwin)
          Darwin.write(file, buffer.baseAddress, buffer.count)
          #elseif canImport(Musl)
          Musl.write(file, buffer.baseAddress, buffer.count)
          #elseif canImport(Bionic)
          Bionic.write(file, buffer.baseAddress, buffer.count)
          #else
          Glibc.write(file, buffer.baseAddress, buffer.count)
          #endif
        }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }

  /// Has a file's bytes survive a loss of power.
  private static func flush(_ file: Int32) -> Bool {
    #if canImport(Darwin)
    // fsync leaves bytes in the drive's own memory there; not every file system takes the stronger call.
    if fcntl(file, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(file) == 0
  }

  /// Has the file's new name survive a loss of power.
  private func flushFolder() -> Bool {
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = name.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Self.flush(descriptor)
  }

  private static func reason() -> String { String(cString: strerror(errno)) }

  private static func failure(at path: String, _ reason: String) -> WebTokenStoreError {
    WebTokenStoreError("\(path): \(reason)")
  }
}
