#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Sees to it that one process at a time synchronizes a database, by a file beside it.
///
/// It goes with its process, however that ends; a file that is left behind locks nobody out.
struct DatabaseLock {
  private let path: String
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// - Throws: A failure that says that somebody else has it, or why there is none.
  init(_ database: String) throws {
    // Other names of the file must lead to the same lock.
    try SamePath.checkPresence(of: database)
    guard let resolved = SamePath.resolved(path: database) else {
      throw ToolError.failure(
        "\(database): it cannot be opened: \(String(cString: strerror(errno)))"
      )
    }
    path = resolved + "-cloudsync"
    while true {
      let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else {
        let reason = String(cString: strerror(errno))
        throw ToolError.failure(
          "\(database): \(path) cannot be made beside it: \(reason); check the folder's permissions"
        )
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw ToolError.failure(
          "\(database): another cloudsync is at work on it; end that one, or wait for it"
        )
      }
      // Who had it before may have removed the file in between.
      if SamePath.Identity(descriptor: descriptor) == SamePath.Identity(path: path) {
        self.descriptor = descriptor
        return
      }
      close(descriptor)
    }
  }

  /// Gives it back, and takes the file away.
  func release() {
    unlink(path)
    close(descriptor)
  }
}
