import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

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

/// Where the database of a device is: in memory, or in a file in a folder of its own.
///
/// A file is left by a process that ends as by a crash: whatever is only in the write-ahead log stays
/// there, and the next process finds it.
final class SimulatedDisk: Sendable {
  private struct State {
    /// The folder; nil for a database in memory.
    var folder: String?
    var file: DatabaseFile?
    var other: DatabaseFile?
    /// Counts the copies: every process has one of its own.
    var copy = 0
    /// How long the write-ahead log was before the last write.
    var logLength = 0
  }

  private let enforcesForeignKeys: Bool
  private let state: Locked<State>

  init(inFile: Bool, enforcesForeignKeys: Bool) throws {
    self.enforcesForeignKeys = enforcesForeignKeys
    state = Locked(State(folder: inFile ? try Self.makeFolder() : nil))
  }

  deinit {
    let folder = state.withLock { state in
      state.file = nil
      state.other = nil
      return state.folder
    }
    // What cannot be removed stays where the system removes it.
    if let folder { try? FileManager.default.removeItem(atPath: folder) }
  }

  private static func makeFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/cloudsync-sqlite-XXXXXX"
    var template = Array(path.utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SyncEngineError(.cannotAccess, path: path, String(cString: strerror(errno)))
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  var isInFile: Bool { state.withLock { $0.folder != nil } }

  private func path(copy: Int) -> String? {
    state.withLock { $0.folder }.map { "\($0)/\(copy).sqlite" }
  }

  /// The connection of the app.
  func file() throws -> DatabaseFile {
    if let file = state.withLock({ $0.file }) { return file }
    let file = try connect()
    state.withLock { $0.file = file }
    return file
  }

  /// Another connection, as a second process has one; that of the app if there is no file.
  func otherFile() throws -> DatabaseFile {
    guard isInFile else { return try file() }
    if let other = state.withLock({ $0.other }) { return other }
    let other = try connect()
    state.withLock { $0.other = other }
    return other
  }

  private func connect() throws -> DatabaseFile {
    let path = path(copy: state.withLock { $0.copy }) ?? ":memory:"
    let file = try DatabaseFile(
      path: path,
      enforcesForeignKeys: enforcesForeignKeys,
      createsFile: true
    )
    // Nobody cuts the power here, and the log keeps what a crash finds.
    try file.execute("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0")
    return file
  }

  // MARK: Other files

  /// Puts another file in the place of the database, which nobody uses.
  ///
  /// - Parameter make: Makes the file at the path.
  /// - Throws: What `make` throws, or why there is no folder.
  func replace(make: (String) throws -> Void) throws {
    let folder = try state.withLock { $0.folder } ?? Self.makeFolder()
    let copy = state.withLock { $0.copy }
    let old = path(copy: copy)
    try make("\(folder)/\(copy + 1).sqlite")
    let closed = state.withLock { state -> (DatabaseFile?, DatabaseFile?) in
      defer {
        state.folder = folder
        state.file = nil
        state.other = nil
        state.copy += 1
      }
      return (state.file, state.other)
    }
    withExtendedLifetime(closed) {}  // Released outside the lock.
    if let old { try Self.remove(old) }
  }

  private static func remove(_ path: String) throws {
    let files = FileManager.default
    for suffix in ["", "-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
      try files.removeItem(atPath: path + suffix)
    }
  }

  // MARK: Crashes

  /// Notes that something is about to be written.
  func willWrite() {
    guard isInFile else { return }
    let length = logLength()
    state.withLock { $0.logLength = length }
  }

  private func logLength() -> Int {
    guard let path = path(copy: state.withLock { $0.copy }) else { return 0 }
    var status = stat()
    return stat("\(path)-wal", &status) == 0 ? Int(status.st_size) : 0
  }

  /// Leaves the file as the process that ends has left it; without the last write, if it is torn.
  ///
  /// - Returns: Whether a write was torn: not if the last one came to nothing.
  func crash(isTorn: Bool = false) throws -> Bool {
    let copy = state.withLock { $0.copy }
    guard let old = path(copy: copy), let new = path(copy: copy + 1),
      state.withLock({ $0.file != nil })
    else {
      return false
    }
    var wasTorn = false
    let files = FileManager.default
    try files.copyItem(atPath: old, toPath: new)
    if files.fileExists(atPath: "\(old)-wal") {
      try files.copyItem(atPath: "\(old)-wal", toPath: "\(new)-wal")
      let before = state.withLock { $0.logLength }
      let now = logLength()
      if isTorn, now > before {
        wasTorn = truncate("\(new)-wal", off_t(before + (now - before) / 2)) == 0
      }
    }
    let closed = state.withLock { state -> (DatabaseFile?, DatabaseFile?) in
      defer {
        state.file = nil
        state.other = nil
        state.copy += 1
      }
      return (state.file, state.other)
    }
    withExtendedLifetime(closed) {}  // Released outside the lock.
    try Self.remove(old)
    return wasTorn
  }
}
