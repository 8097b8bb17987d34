#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Has what was written to a file survive a loss of power.
enum FileSync {
  /// Returns once the bytes are on the disk; false if they cannot be, with the reason in `errno`.
  static func synchronize(descriptor: Int32) -> Bool {
    #if canImport(Darwin)
    // There fsync ends at the drive, which may keep bytes in its memory and write them in any order.
    // Not every file system takes the call that empties that memory.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }
}
