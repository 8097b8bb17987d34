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

/// Where the bytes of a log come from: a file that is read piece by piece, or memory.
final class LogSource: Sendable {
  private enum Kind {
    case memory([UInt8])
    case file(Int32)
  }

  /// What errors call the log.
  let name: String
  private let kind: Kind

  /// Takes bytes.
  init(_ bytes: [UInt8], name: String) {
    self.name = name
    kind = .memory(bytes)
  }

  /// Opens a file.
  init(path: String) throws(LogError) {
    name = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw LogError(.file, log: path, "it cannot be opened: \(Self.lastError)")
    }
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    // A pipe or a device has no offsets, and perhaps no end.
    guard kind == S_IFREG else {
      close(descriptor)
      let what = kind == S_IFDIR ? "a directory" : "not a regular file"
      throw LogError(.file, log: path, "it is \(what); a log is a file")
    }
    self.kind = .file(descriptor)
  }

  deinit {
    if case .file(let descriptor) = kind { close(descriptor) }
  }

  static var lastError: String { String(cString: strerror(errno)) }

  /// Reads up to so many bytes; none at the end.
  func read(at offset: Int, count: Int) throws(LogError) -> [UInt8] {
    switch kind {
    case .memory(let bytes):
      guard offset < bytes.count else { return [] }
      return Array(bytes[offset..<min(bytes.count, offset + count)])
    case .file(let descriptor): return try read(descriptor, at: offset, count: count)
    }
  }

  private func read(
    _ descriptor: Int32,
    at offset: Int,
    count: Int
  ) throws(LogError) -> [UInt8] {
    var failure: String?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
        )
        let got = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = Self.lastError }
        if got <= 0 { return }
        filled += got
      }
    }
    if let failure { throw LogError(.file, log: name, "it cannot be read: \(failure)") }
    return bytes
  }
}
