import CloudSyncSession
import Synchronization

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

/// The file in which a session survives the end of its process.
///
/// It begins with a snapshot, and every event is appended to it before the event has any effect. A
/// session that starts writes it anew: that keeps it short.
final class JournalFile: Sendable {
  let path: String
  /// The open file; nil before the snapshot is there.
  private let descriptor = Mutex<Int32?>(nil)

  init(_ path: String) { self.path = path }

  /// What an earlier process left; nil if there is nothing.
  func read() throws(NotesError) -> SyncArchive? {
    guard let data = try FileAccess.read(path) else { return nil }
    do { return try SyncArchive(data) } catch {
      throw NotesError(
        "\(path) is damaged (\(error)); move it away: unsent edits are taken from the notes then"
      )
    }
  }

  /// Takes bytes of the session's journal; the first ones are its snapshot.
  ///
  /// The session waits for nothing that happens here, so a failure ends the process: nothing is
  /// announced or sent then that is not in the file.
  func write(_ bytes: Data) {
    do throws(NotesError) { try append(bytes) } catch {
      Output.error(error)
      exit(1)
    }
  }

  private func append(_ bytes: Data) throws(NotesError) {
    let result = descriptor.withLock { descriptor -> Result<Void, NotesError> in
      do throws(NotesError) {
        if let descriptor {
          try FileAccess.write(bytes, to: descriptor, at: path)
        } else {
          descriptor = try FileAccess.replacing(path, with: bytes)
        }
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Makes what was appended survive a loss of power too.
  func sync() throws(NotesError) {
    guard let descriptor = descriptor.withLock({ $0 }) else { return }
    guard FileAccess.sync(descriptor) else { throw FileAccess.failure("write", path) }
  }
}
