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
//   test-server FOLDER asset DIGEST
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

/// Saves a file as an asset, and tells by how much the most memory that was ever held has grown meanwhile.
///
/// - Parameters:
///   - digits: The file's digest.
///   - folder: The folder that has the file.
/// - Throws: What keeps it from that.
func saveAsset(_ digits: String, in folder: String) throws {
  func mostMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1_024
  }
  let cloud = LocalCloud(assetFolder: folder + "/assets")
  let zoneID = ZoneID(name: "Notes")
  let account = AccountIdentity("alice")
  let connection = cloud.connect(device: "mac", account: account, zoneID: zoneID)
  let context = RequestContext(
    attempt: Attempt(epoch: 1, number: 1),
    writeToken: WriteToken(nonce: 1, number: 1),
    deadline: .distantFuture
  )
  connection.handle(
    createZoneOperation: CreateZoneOperation(zoneID: zoneID),
    context: context
  ) { _ in }
  // What any save needs is there from now on.
  _ = try cloud.keepAsset(bytes: [1], account: account)
  let before = try mostMemory()
  let bytes = stride(from: 0, to: digits.count, by: 2)
    .compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
  let asset = Asset(sha256: Data(bytes), byteCount: 50_000_000, location: folder + "/file")
  let record = Record(
    recordType: "Note",
    recordID: RecordID(name: "a", zoneID: zoneID),
    fields: ["file": .asset(asset)]
  )
  connection.handle(
    modifyOperation: ModifyOperation(records: [record]),
    context: context
  ) { result in
    if case .success(let response) = result, response.failures.isEmpty { return }
    FileHandle.standardError.write(Data("\(result)\n".utf8))
    exit(1)
  }
  print(try mostMemory() - before)
}

let words = CommandLine.arguments
if words.count == 4, words[2] == "asset" {
  try saveAsset(words[3], in: words[1])
  exit(0)
}
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
