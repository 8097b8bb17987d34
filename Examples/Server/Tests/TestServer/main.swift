import CloudSyncLocalCloud
import CloudSyncServer
import CloudSyncService
import CloudSyncSession
import Foundation
import Logging
import Synchronization

// A server that kills itself at a point of one of its transactions that write, for tests of what is left then:
//
//   crashing-server FOLDER PORT TOKEN POINT NUMBER

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

final class CrashingStore: LocalCloudStore {
  private let base: SQLiteStore
  private let point: Point
  private let number: Int
  private let count = Atomic(0)

  init(_ base: SQLiteStore, _ point: Point, _ number: Int) {
    self.base = base
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
guard words.count == 6, let port = Int(words[2]), let point = Point(rawValue: words[4]),
  let number = Int(words[5])
else { exit(2) }
let tokens = MemoryTokens()
tokens.add(token: words[3], access: ServiceAccess(account: AccountIdentity("alice"), device: "mac"))
var configuration = ServerConfiguration()
configuration.listen = ("127.0.0.1", port)
configuration.admin = nil
let program = ServerProgram(
  store: CrashingStore(try SQLiteStore(path: words[1] + "/cloud.sqlite"), point, number),
  folder: words[1],
  tokens: tokens,
  secret: [UInt8](repeating: 7, count: 32),
  configuration: configuration,
  logger: Logger(label: "crashing") { _ in SwiftLogNoOpLogHandler() }
) { name, address in
  FileHandle.standardOutput.write(Data("\(name): \(address)\n".utf8))
}
try await program.run()
