import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import PostgresStore

/// The list of tokens: in the server's folder, or in the database that servers share.
enum TokenBook {
  case folder(ServerFolder)
  case database(PostgresTokens)

  /// Opens the list that the arguments name.
  ///
  /// - Parameters:
  ///   - given: The arguments.
  ///   - isMade: Whether a folder is made if it is missing.
  /// - Throws: What cannot be opened, and what to do.
  init(_ given: CommandArguments, isMade: Bool) throws {
    if let store = try ServedDatabase.postgres(given) {
      self = .database(PostgresTokens(store: store))
    } else {
      self = .folder(try ServerFolder(try given.required("--data", "DIR"), isMade: isMade))
    }
  }

  /// The tokens, but for those that were revoked.
  func entries() throws -> [TokenEntry] {
    switch self {
    case .folder(let folder): try TokenList(path: folder.tokens).entries
    case .database(let tokens):
      try Self.failing { () throws(LocalCloudStoreError) in
        try tokens.entries().filter { $0.revoked == nil }.map(TokenEntry.init)
      }
    }
  }

  func add(_ entries: [TokenEntry]) throws {
    switch self {
    case .folder(let folder): try Self.edit(folder) { list in entries.forEach { list.add($0) } }
    case .database(let tokens):
      try Self.failing { () throws(LocalCloudStoreError) in
        for entry in entries {
          try tokens.add(
            digest: entry.bytes,
            access: entry.access,
            expires: entry.expires.map { $0 * 1_000 }
          )
        }
      }
    }
  }

  /// Shuts tokens out; returns how many.
  func remove(where isRemoved: (TokenEntry) -> Bool) throws -> Int {
    switch self {
    case .folder(let folder):
      var count = 0
      try Self.edit(folder) { count = $0.remove(where: isRemoved) }
      return count
    case .database(let tokens):
      let removed = try entries().filter(isRemoved)
      try Self.failing { () throws(LocalCloudStoreError) in
        for entry in removed { try tokens.revoke(digest: entry.bytes) }
      }
      return removed.count
    }
  }

  private static func failing<Value>(
    _ body: () throws(LocalCloudStoreError) -> Value
  ) throws(ServerFailure) -> Value {
    do throws(LocalCloudStoreError) { return try body() } catch { throw .failure("\(error)") }
  }

  private static func edit(_ folder: ServerFolder, _ body: (inout TokenList) -> Void) throws {
    let lock = try FolderLock(
      "\(folder.path)/tokens.lock",
      isWaiting: true,
      refusal: "\(folder.path): its tokens are being changed"
    )
    try withExtendedLifetime(lock) {
      var list = try TokenList(path: folder.tokens)
      body(&list)
      try list.write(to: folder.tokens)
    }
  }
}

extension TokenEntry {
  /// The digest.
  fileprivate var bytes: [UInt8] {
    let digits = Array(sha256.utf8).map { $0 > 0x60 ? $0 - 0x57 : $0 - 0x30 }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  fileprivate init(_ entry: PostgresTokens.Entry) {
    self.init(
      sha256: Self.digits(entry.digest),
      account: entry.access.account.value,
      device: entry.access.device,
      created: entry.created / 1_000,
      expires: entry.expires.map { $0 / 1_000 }
    )
  }
}
