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

/// A file that is written beside the one that it replaces once it is whole.
package struct ReportFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

  private var pathBeside: String { "\(path).new" }

  /// Begins to write.
  package init(path: String) throws(LogError) {
    self.path = path
    guard let file = fopen("\(path).new", "w") else {
      throw LogError(.file, log: path, "it cannot be created: \(LogSource.lastError)")
    }
    self.file = file
  }

  /// Writes a piece behind those before.
  package func append(_ piece: Data) throws(LogError) {
    let count = piece.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
    if count != piece.count { throw failure }
  }

  /// Has everything reach the disk, and puts the file in its place.
  package func finish() throws(LogError) {
    guard fflush(file) == 0, FileSync.synchronize(descriptor: fileno(file)) else { throw failure }
    guard rename(pathBeside, path) == 0 else { throw failure }
    fclose(file)
  }

  /// Leaves no trace of a file that did not become whole.
  package func discard() {
    fclose(file)
    unlink(pathBeside)
  }

  private var failure: LogError {
    LogError(.file, log: path, "it cannot be written: \(LogSource.lastError)")
  }
}
