#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// Has files survive a loss of power.
enum FileSync {
  /// Returns once what was written is on the disk; false if it cannot be.
  static func synchronize(descriptor: Int32) -> Bool {
    #if canImport(Darwin)
    // fsync leaves bytes in the drive's own memory there; not every file system takes the stronger call.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }

  /// Returns once the names of a folder's files are on the disk; false if they cannot be.
  static func synchronize(folder path: String) -> Bool {
    let folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return synchronize(descriptor: folder)
  }
}
