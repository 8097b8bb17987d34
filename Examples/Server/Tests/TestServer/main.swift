import CloudSyncLocalCloud
import CloudSyncServer
import CloudSyncService
import CloudSyncSession
import Foundation
import Logging
import Synchronization

// A server for tests of what is hard to come by:
//
//   test-server FOLDER PORT POINT NUMBER
//
// It kills itself at a point of its transaction of a number that writes; while the file “full” is in the folder its
// disk is full, while “back” is there its clock is an hour back, and with “impatient” polls end at once. Its tokens
// are “token” of alice's mac and “other” of her phone.

/// Where the process ends.
enum Point: String {
  /// Nothing has begun.
  case beforeLock
  /// All is written, and not committed.
  case beforeCommit
  /// All is committed, and not answered.
  case afterCommit
  case never
}

final class TestStore: LocalCloudStore {
  private let base: SQLiteStore
  private let folder: String
  private let point: Point
  private let number: Int
  private let count = Atomic(0)

  init(_ folder: String, dyingAt point: Point, of number: Int) throws {
    base = try SQLiteStore(path: folder + "/cloud.sqlite")
    self.folder = folder
    self.point = point
    self.number = number
  }

  private func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    if kind == .write, FileManager.default.fileExists(atPath: folder + "/full") {
      throw LocalCloudStoreError(.full, path: "/secret-path", "the disk is full")
    }
    let isLast = kind == .write && count.add(1, ordering: .relaxed).newValue == number
    if isLast, point == .beforeLock { die() }
    let value = try base.transaction(kind) { (transaction) throws(LocalCloudStoreError) -> Value in
      let value = try body(transaction)
      if isLast, point == .beforeCommit { die() }
      return value
    }
    if isLast, point == .afterCommit { die() }
    return value
  }
}

let words = CommandLine.arguments
guard words.count == 5, let port = Int(words[2]), let point = Point(rawValue: words[3]),
  let number = Int(words[4])
else { exit(2) }
let folder = words[1]
let tokens = MemoryTokens()
for (token, device) in [("token", "mac"), ("other", "phone")] {
  let access = ServiceAccess(account: AccountIdentity("alice"), device: device)
  tokens.add(token: token, access: access)
}
var configuration = ServerConfiguration()
configuration.listen = ("127.0.0.1", port)
configuration.admin = ("127.0.0.1", 0)
if FileManager.default.fileExists(atPath: folder + "/impatient") {
  configuration.limits.service.pollDuration = .zero
}
configuration.now = {
  let isBack = FileManager.default.fileExists(atPath: folder + "/back")
  return SyncEnvironment.live.now().adding(.seconds(isBack ? -3_600 : 0))
}
let program = ServerProgram(
  store: try TestStore(folder, dyingAt: point, of: number),
  folder: folder,
  tokens: tokens,
  secret: [UInt8](repeating: 7, count: 32),
  configuration: configuration,
  logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
) { name, address in
  FileHandle.standardOutput.write(Data("\(name): \(address)\n".utf8))
}
try await program.run()
