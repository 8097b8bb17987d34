import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import PostgresStore
import PostgresTestServer

/// A database of a local cloud that several processes have, empty when it is made.
final class SharedDatabase: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case postgres
    case sqlite
  }

  let kind: Kind
  /// The file, or what connects to the schema.
  private let place: String

  init(_ kind: Kind) throws {
    self.kind = kind
    switch kind {
    case .postgres: place = try PostgresServer.shared.get().newSchema()
    case .sqlite:
      var template = Array(
        "\(FileManager.default.temporaryDirectory.path)/shared-XXXXXX".utf8CString
      )
      guard mkdtemp(&template) != nil else {
        throw SyncError(.internalError, "there is no folder for temporary files")
      }
      let folder = template.dropLast().map { UInt8(bitPattern: $0) }
      place = "\(String(decoding: folder, as: UTF8.self))/cloud.sqlite"
    }
  }

  /// A database that is there already.
  init(conninfo: String) {
    kind = .postgres
    place = conninfo
  }

  deinit {
    guard kind == .sqlite else { return }
    let folder = URL(fileURLWithPath: place).deletingLastPathComponent()
    try? FileManager.default.removeItem(at: folder)
  }

  /// What tells a process of it.
  var words: [String] { [kind.rawValue, place] }

  /// A store of this process.
  func store() throws -> any LocalCloudStore {
    switch kind {
    case .postgres: try PostgresStore(conninfo: place)
    case .sqlite: try SQLiteStore(path: place)
    }
  }
}
