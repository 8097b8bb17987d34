import CloudSyncLocalCloud
import CloudSyncSession
import Foundation

/// The folder with all that a server keeps.
struct ServerFolder: Sendable {
  let path: String

  var cloud: String { "\(path)/cloud.sqlite" }
  var assets: String { "\(path)/assets" }
  var tokens: String { "\(path)/tokens" }
  private var secretPath: String { "\(path)/secret" }
  private var lockPath: String { "\(path)/lock" }

  /// Opens a folder.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - isMade: Whether it is made if it is missing.
  /// - Throws: That it is missing or cannot be made, and what to do.
  init(_ path: String, isMade: Bool) throws(ServerFailure) {
    self.path = path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      if isFolder.boolValue { return }
      throw .failure("\(path): it is no folder")
    }
    guard isMade else {
      throw .failure("\(path): there is no such folder; “token add” and “serve” make it")
    }
    // Several servers that share it may start at the same time.
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .failure("\(path): the folder cannot be made: \(Self.reason())")
    }
  }

  /// That other users of the machine may read what is in the folder; nil if they may not.
  var exposure: String? {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & 0o077 != 0 else { return nil }
    return "\(path): other users of this machine can look into it; run “chmod -R go= \(path)”"
  }

  static func reason() -> String { String(cString: strerror(errno)) }

  // MARK: Files

  /// Opens the cloud's file.
  func openStore() throws(ServerFailure) -> SQLiteStore {
    do throws(LocalCloudStoreError) { return try SQLiteStore(path: cloud) } catch {
      throw .failure("\(error)")
    }
  }

  /// What addresses of assets are signed with; it is made if it is missing.
  func secret() throws(ServerFailure) -> [UInt8] {
    if let data = FileManager.default.contents(atPath: secretPath) {
      guard data.count == 32 else {
        throw .failure(
          "\(secretPath): it has \(data.count) bytes, not 32; remove it, and start again"
        )
      }
      return [UInt8](data)
    }
    let bytes = Self.randomBytes(count: 32)
    try Self.write(bytes, to: secretPath)
    return bytes
  }

  /// The same for several servers that share the folder, also where they start at the same time.
  func sharedSecret() throws(ServerFailure) -> [UInt8] {
    let lock = try FolderLock(
      "\(secretPath).lock",
      isWaiting: true,
      refusal: "\(path): its secret is being made"
    )
    defer { withExtendedLifetime(lock) {} }
    return try secret()
  }

  /// Bytes from the system's source of randomness.
  static func randomBytes(count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Writes a file that only its owner may read, whole or not at all.
  static func write(_ bytes: [UInt8], to path: String) throws(ServerFailure) {
    var template = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw .failure("\(path): it cannot be written: \(reason())")
    }
    defer { close(descriptor) }
    var start = 0
    while start < bytes.count {
      let count = bytes[start...]
        .withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      start += count
    }
    guard start == bytes.count, fsync(descriptor) == 0, rename(template, path) == 0 else {
      let reason = reason()
      unlink(template)
      throw .failure("\(path): it cannot be written: \(reason)")
    }
    // Without it a power failure may bring the former file back, and with it a token that was revoked.
    let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
    defer { if folder >= 0 { close(folder) } }
    guard folder >= 0, fsync(folder) == 0 else {
      throw .failure("\(path): its folder cannot be written: \(reason())")
    }
  }

  // MARK: Locks

  /// Sees to it that one process at a time serves the folder; the lock goes with the process, however that ends.
  func lock() throws(ServerFailure) -> FolderLock {
    try FolderLock(
      lockPath,
      isWaiting: false,
      refusal: "\(path): another cloudsync-server is at work in it; end that one first"
    )
  }
}

/// A file that one process at a time holds.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Takes a lock.
  ///
  /// - Parameters:
  ///   - path: The file, which is made if it is missing.
  ///   - isWaiting: Whether to wait for whoever holds it.
  ///   - refusal: What to say if another process holds it.
  /// - Throws: That, or that the file cannot be made.
  init(_ path: String, isWaiting: Bool, refusal: String) throws(ServerFailure) {
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .failure("\(path): it cannot be opened: \(ServerFolder.reason())")
    }
    guard flock(descriptor, isWaiting ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw .failure(refusal)
    }
  }

  deinit { close(descriptor) }
}
