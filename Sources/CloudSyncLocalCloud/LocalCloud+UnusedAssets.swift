import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LocalCloud {
  /// Removes the files of assets that no record has: of uploads whose record was never saved, of records that have
  /// another file now, and of those that were deleted.
  ///
  /// To be called now and then, on a thread that may wait: it goes through all records of each account that has files
  /// which are old enough, in short transactions. Several processes may do so at once.
  ///
  /// - Parameter age: How long a file stays after it was last uploaded or saved with a record.
  /// - Returns: How many were removed.
  /// - Throws: What the store has to say.
  @discardableResult
  public func removeUnusedAssets(
    unusedFor age: Duration = .seconds(86_400)
  ) throws(LocalCloudStoreError) -> Int {
    guard let assetFolder else { return 0 }
    let time = accountFrame(account: AccountIdentity("")).now.adding(.zero - age)
    let limit = Date(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    // Without the folder there is nothing to remove.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: assetFolder)) ?? []
    var accounts: [String: AccountIdentity] = [:]
    for account in try accountIdentities() {
      accounts[Hexadecimal.text(of: SHA256.digest(of: Array(account.value.utf8)))] = account
    }
    var count = 0
    for name in names.sorted() {
      let files = UnusedAssets(path: "\(assetFolder)/\(name)", limit: limit)
      let candidates = files.candidates()
      if candidates.isEmpty { continue }
      // A file that a record gets from now on is looked for before, and then no longer old.
      var used: Set<String> = []
      if let account = accounts[name] {
        used = Set(try usedAssets(of: account).map { Hexadecimal.text(of: $0.sha256) })
      }
      for candidate in candidates where !used.contains(candidate) && files.remove(candidate) {
        count += 1
      }
    }
    return count
  }

  private func accountIdentities() throws(LocalCloudStoreError) -> [AccountIdentity] {
    try transaction(.read, frame: accountFrame(account: AccountIdentity(""))) {
      (engine) throws(LocalCloudStoreError) in
      let prefix = AccountDocument.key(for: AccountIdentity(""))
      return try engine.store.documents(withPrefix: prefix)
        .map { AccountIdentity(String($0.key.dropFirst(prefix.count))) }
    }
  }

  /// The assets that the records of an account have, each once, sorted by their digests.
  func usedAssets(of account: AccountIdentity) throws(LocalCloudStoreError) -> [Asset] {
    let frame = accountFrame(account: account)
    let zones = try transaction(.read, frame: frame) {
      (engine) throws(LocalCloudStoreError) -> [ZoneDocument] in
      guard let document = try engine.account() else { return [] }
      return try engine.zones(of: document).filter { $0.gone == nil }
    }
    var used: [Data: Asset] = [:]
    for zone in zones {
      var position: Int64 = 0
      while true {
        let start = position
        let page = try transaction(.read, frame: frame) {
          (engine) throws(LocalCloudStoreError) in
          try engine.store.items(in: zone.key, after: start, limit: 1_000, byteLimit: 4_000_000)
        }
        guard let last = page.last else { break }
        for item in page {
          for asset in item.record?.assets ?? [] { used[asset.sha256] = asset }
        }
        position = last.position
      }
    }
    return used.values.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
  }
}
