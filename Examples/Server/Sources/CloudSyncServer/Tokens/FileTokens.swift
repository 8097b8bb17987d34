import CloudSyncService
import CloudSyncSession
import Foundation
import Synchronization

// Where Dispatch is imported first, the compiler takes the facts of files for declarations of its module.
#if canImport(CDispatch)
import CDispatch
#elseif canImport(Glibc)
import Glibc
#endif

/// The tokens of a file, which commands change while a server runs: every request looks whether the file is still the
/// one that was read, so that a token that is revoked opens nothing from then on.
final class FileTokens: ServiceTokens {
  /// Which file was read, whatever it is called.
  private struct Version: Equatable {
    var number: UInt64
    var size: Int64
    var change: Int64
    var changeNanoseconds: Int64

    init?(path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      number = UInt64(facts.st_ino)
      size = Int64(facts.st_size)
      #if canImport(Darwin)
      change = Int64(facts.st_ctimespec.tv_sec)
      changeNanoseconds = Int64(facts.st_ctimespec.tv_nsec)
      #else
      change = Int64(facts.st_ctim.tv_sec)
      changeNanoseconds = Int64(facts.st_ctim.tv_nsec)
      #endif
    }
  }

  private struct State {
    var version: Version?
    /// Whether there was a file: from then on a missing one is no list without tokens.
    var wasThere = false
    /// By digest; looked into, never iterated.
    var entries: [String: TokenEntry] = [:]
  }

  private let path: String
  private let now: @Sendable () -> Int64
  private let onProblem: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - now: The clock, in seconds since 1970.
  ///   - onProblem: Hears that the file cannot be read any more; then nobody can say which tokens are good.
  /// - Throws: That the file cannot be read.
  init(
    path: String,
    now: @escaping @Sendable () -> Int64 = { Int64(time(nil)) },
    onProblem: @escaping @Sendable (String) -> Void
  ) throws(ServerFailure) {
    self.path = path
    self.now = now
    self.onProblem = onProblem
    _ = try TokenList(path: path)
  }

  /// Finds whom the token with a digest belongs to.
  func access(digest: [UInt8]) throws(SyncError) -> ServiceAccess? {
    let version = Version(path: path)
    let entry = try state.withLock { state throws(SyncError) -> TokenEntry? in
      if state.version == nil || state.version != version {
        // What cannot be read is read again next time.
        state.version = nil
        state.entries = [:]
        do throws(ServerFailure) {
          if version == nil, state.wasThere { throw .failure("\(path): it is gone") }
          let list = try TokenList(path: path)
          state.version = version
          state.wasThere = version != nil
          for entry in list.entries { state.entries[entry.sha256] = entry }
        } catch {
          onProblem("\(error)")
          throw SyncError(.serviceUnavailable, "the list of tokens cannot be read")
        }
      }
      return state.entries[TokenEntry.digits(digest)]
    }
    guard let entry, !entry.isExpired(at: now()) else { return nil }
    return entry.access
  }
}
