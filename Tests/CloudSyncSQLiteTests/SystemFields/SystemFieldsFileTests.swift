import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Foundation
import Testing

@Suite("SystemFieldsFile")
final class SystemFieldsFileTests {
  private static let serial = Locked(0)
  private let path: String

  init() {
    let number = Self.serial.withLock { serial in
      serial += 1
      return serial
    }
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = TestPath.folder
    path = "\(folder)/cloudsync-fields-\(process)-\(number)"
  }

  deinit {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  private func id(_ name: String, owner: String = ZoneID.currentUser) -> RecordID {
    let scope: DatabaseScope = owner == ZoneID.currentUser ? .private : .shared
    return RecordID(name: name, zoneID: ZoneID(name: "Notes", owner: owner, scope: scope))
  }

  private func entry(_ recordID: RecordID, _ bytes: [UInt8]) -> SystemFields {
    SystemFields(recordID: recordID, bytes: Data(bytes))
  }

  @Test("What was saved is there after the file was closed and opened again")
  func survives() throws {
    try SystemFieldsFile(path: path).save([entry(id("a"), [1]), entry(id("b"), [2])])

    let file = try SystemFieldsFile(path: path)

    #expect(try file.load([id("b"), id("c"), id("a")]) == [Data([2]), nil, Data([1])])
  }

  @Test("A later save replaces an earlier one, and a removed record is not there")
  func replaces() throws {
    let file = try SystemFieldsFile(path: path)
    try file.save([entry(id("a"), [1]), entry(id("b"), [2])])

    try file.save([entry(id("a"), [3])])
    try file.remove([id("b"), id("never")])

    #expect(try file.load([id("a"), id("b")]) == [Data([3]), nil])
  }

  @Test("Records of one name in zones of several owners are several records")
  func owners() throws {
    let file = try SystemFieldsFile(path: path)

    try file.save([entry(id("a"), [1]), entry(id("a", owner: "_bob"), [2])])

    #expect(try file.load([id("a", owner: "_bob"), id("a")]) == [Data([2]), Data([1])])
    #expect(try file.load([id("a", owner: "_eve")]) == [nil])
  }

  @Test("It keeps as many records as it may: those that were saved last")
  func bounded() throws {
    let file = try SystemFieldsFile(path: path, limit: 3)
    for number in 1...5 { try file.save([entry(id("r\(number)"), [UInt8(number)])]) }

    let found = try file.load((1...5).map { id("r\($0)") })

    #expect(found == [nil, nil, Data([3]), Data([4]), Data([5])])
  }

  @Test("A file that is no database is replaced")
  func notADatabase() throws {
    try Data(repeating: 0x5a, count: 10_000).write(to: URL(filePath: path))

    let file = try SystemFieldsFile(path: path)
    try file.save([entry(id("a"), [1])])

    #expect(try file.load([id("a")]) == [Data([1])])
  }

  @Test("A file in a folder that is missing is an error that names it")
  func cannotOpen() {
    let missing = path + "-none/fields"

    let error = #expect(throws: SystemFieldsStoreError.self) {
      try SystemFieldsFile(path: missing)
    }

    #expect(error?.reason.contains(missing) == true)
  }

  @Test("Two connections share a file")
  func shared() throws {
    let first = try SystemFieldsFile(path: path)
    let second = try SystemFieldsFile(path: path)

    try first.save([entry(id("a"), [1])])
    try second.save([entry(id("b"), [2])])

    #expect(try first.load([id("a"), id("b")]) == [Data([1]), Data([2])])
  }
}
