import CloudSyncSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file with a line for each row: table, old key and new key, with commas between them.
///
/// Every line is written at once, so that all of them are there before the migration is final. The file has its name when
/// all is done: what a run has left that was killed does not look like the whole.
struct KeyMapFile: Sendable {
  private let path: String
  private let descriptor: Int32

  private var part: String { path + ".part" }

  init(path: String) throws {
    self.path = path
    let part = path + ".part"
    if access(part, F_OK) == 0 {
      throw ToolError.failure(
        "\(part): a run that was interrupted has left it; if the database is migrated it has the keys, so rename it;"
          + " else remove it"
      )
    }
    descriptor = open(part, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0o666)
    guard descriptor >= 0 else { throw failure }
    try write("table,old,new\n")
  }

  func append(_ mapping: KeyMapping) throws {
    let fields = [mapping.table, mapping.old, mapping.new].map { Self.field($0) }
    try write(fields.joined(separator: ",") + "\n")
  }

  func finish() throws {
    if close(descriptor) != 0 || rename(part, path) != 0 { throw failure }
  }

  func discard() {
    close(descriptor)
    unlink(part)
  }

  private func write(_ line: String) throws {
    var rest = Array(line.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
      }
      guard count > 0 else { throw failure }
      rest = rest.dropFirst(count)
    }
  }

  private var failure: ToolError {
    .failure("\(path): it cannot be written: \(String(cString: strerror(errno)))")
  }

  private static func field(_ text: String) -> String {
    text.contains { ",\"\n\r".contains($0) } ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
  }
}
