import CloudSyncCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that a recording goes to, and the older files beside it.
///
/// The header is written at once. What is recorded then is buffered and written now and then, so that
/// a crash of the process loses the last events at most; a reader sees a torn last line, or that the
/// end is missing. A file that is full is renamed, `session.jsonl` to `session.1.jsonl` and so on, and
/// another is begun; each is a log by itself that names the one before it, and ``EventLog`` opens
/// several as one.
///
/// By default there are at most four files of 64 MB, 256 MB in all: of a longer recording the oldest
/// part is deleted with its events, and the log begins with the state after them. Every file begins
/// with the whole state, which a session with much queued work has to write again for each: limits of
/// less than a few times its size cost time and space.
///
/// If the file cannot be written recording goes on without it: ``EventRecorder/flush()`` throws
/// what went wrong.
public final class LogFile: Sendable {
  /// When what is written has to reach the disk.
  public enum Durability: Sendable {
    /// Whenever the system finds time: a crash of the process loses the buffer at most, one of the
    /// machine more.
    case system
    /// After every write of the buffer.
    case everyWrite
    /// After every event: nothing is lost, and every event waits for the disk.
    case everyEvent
  }

  private struct Contents {
    var descriptor: Int32 = -1
    /// How many bytes the present file has.
    var size = 0
    /// How many of them are its header, with the state.
    var headerSize = 0
    var part = 0
    var error: LogError?
  }

  /// Where the present file is.
  public let path: String
  private let byteLimit: Int
  private let fileLimit: Int
  let bufferSize: Int
  let durability: Durability
  private let contents = Locked(Contents())

  /// Names a file; it is created when recording begins, and an older one is kept beside it.
  ///
  /// - Parameters:
  ///   - path: Where the newest file is.
  ///   - byteLimit: How many bytes a file may have before another is begun. A file begins with the
  ///     state: it becomes larger if it would consist of little else.
  ///   - fileLimit: How many files are kept, the newest included; the oldest is deleted.
  ///   - bufferSize: How many bytes are gathered before they are written.
  ///   - durability: When what is written has to reach the disk.
  public init(
    path: String,
    byteLimit: Int = 64_000_000,
    fileLimit: Int = 4,
    bufferSize: Int = 64_000,
    durability: Durability = .system
  ) {
    precondition(fileLimit > 0, "At least one file must be kept: give a larger limit.")
    self.path = path
    self.byteLimit = byteLimit
    self.fileLimit = fileLimit
    self.bufferSize = bufferSize
    self.durability = durability
  }

  deinit {
    contents.withLock { closeFile(contents: &$0) }
  }

  /// Where an older file is: the higher its number, the older it is.
  public func path(ofOlder number: Int) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    guard let dot = path[slash...].lastIndex(of: "."), dot > slash else {
      return "\(path).\(number)"
    }
    return "\(path[..<dot]).\(number)\(path[dot...])"
  }

  // MARK: Recording

  /// Whether another file is to be begun after so many more bytes.
  func isFull(with more: Int) -> Bool {
    contents.withLock { contents in
      let size = contents.size + more
      return size >= byteLimit && size / 2 >= contents.headerSize
    }
  }

  /// What the file is called now that was written before the present one; nil if it is not kept.
  var nameOfPreviousPart: String? {
    fileLimit > 1
      ? path(ofOlder: 1).split(separator: "/").last.map(String.init) : nil
  }

  /// Begins a file, and returns its number.
  ///
  /// - Parameter isFirst: Whether another log begins, which does not go on from the last file.
  /// - Returns: The number of the part.
  func beginPart(isFirst: Bool = false) -> Int {
    contents.withLock { contents in
      closeFile(contents: &contents)
      rotate(contents: &contents)
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor < 0 { fail(contents: &contents, what: "it cannot be created") }
      contents.descriptor = descriptor
      contents.size = 0
      contents.part = isFirst ? 1 : contents.part + 1
      return contents.part
    }
  }

  func endPart() {
    contents.withLock { contents in
      if contents.descriptor >= 0, !FileSync.synchronize(descriptor: contents.descriptor) {
        fail(contents: &contents, what: "it cannot be synchronized")
      }
      closeFile(contents: &contents)
    }
  }

  /// Writes lines; the first ones of a file are its header.
  func append(_ bytes: UnsafeRawBufferPointer) {
    contents.withLock { contents in
      if contents.size == 0 { contents.headerSize = bytes.count }
      contents.size += bytes.count
      write(bytes, to: &contents)
    }
  }

  /// Has what was written reach the disk.
  func flush() throws(LogError) {
    let error = contents.withLock { contents -> LogError? in
      if contents.error == nil, contents.descriptor >= 0,
        !FileSync.synchronize(descriptor: contents.descriptor)
      {
        fail(contents: &contents, what: "it cannot be synchronized")
      }
      return contents.error
    }
    if let error { throw error }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, to contents: inout Contents) {
    guard contents.descriptor >= 0, contents.error == nil, !bytes.isEmpty else { return }
    if let reason = Self.write(bytes, to: contents.descriptor) {
      fail(contents: &contents, what: "it cannot be written", reason: reason)
    } else if durability != .system, !FileSync.synchronize(descriptor: contents.descriptor) {
      fail(contents: &contents, what: "it cannot be synchronized")
    }
  }

  private func fail(contents: inout Contents, what: String, reason: String? = nil) {
    guard contents.error == nil else { return }
    contents.error = LogError(.file, log: path, "\(what): \(reason ?? LogSource.lastError)")
  }

  private func closeFile(contents: inout Contents) {
    guard contents.descriptor >= 0 else { return }
    close(contents.descriptor)
    contents.descriptor = -1
  }

  /// Renames what is there, the oldest first.
  private func rotate(contents: inout Contents) {
    guard access(path, F_OK) == 0 else { return }
    if fileLimit == 1 {
      if unlink(path) != 0 { fail(contents: &contents, what: "it cannot be replaced") }
      return
    }
    for number in stride(from: fileLimit - 2, through: 0, by: -1) {
      let older = number == 0 ? path : path(ofOlder: number)
      guard access(older, F_OK) == 0 else { continue }
      if rename(older, path(ofOlder: number + 1)) != 0 {
        fail(contents: &contents, what: "it cannot be renamed")
      }
    }
  }

  /// Writes all bytes; returns why that failed, if it did.
  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> String? {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      #if canImport(Darwin)
      let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
      let count = Musl.write(descriptor, rest.baseAddress, rest.count)
      #else
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      #endif
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return LogSource.lastError }
      written += count
    }
    return nil
  }

  /// Writes a file beside the one that is there, and puts it in its place.
  package static func write(_ data: Data, to path: String) throws(LogError) {
    let beside = "\(path).new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw LogError(.file, log: path, "it cannot be created: \(LogSource.lastError)")
    }
    var reason = data.withUnsafeBytes { write($0, to: descriptor) }
    if reason == nil, !FileSync.synchronize(descriptor: descriptor) { reason = LogSource.lastError }
    close(descriptor)
    if reason == nil, rename(beside, path) != 0 { reason = LogSource.lastError }
    guard let reason else { return }
    unlink(beside)
    throw LogError(.file, log: path, "it cannot be written: \(reason)")
  }
}
