import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import GRDB
import Synchronization
import Testing

@testable import shopping

/// What a device's database is opened with.
enum WriterKind: Sendable, CaseIterable {
  case queue
  case pool
}

/// Some of GRDB's databases and a cloud, in virtual time.
final class ShoppingHarness {
  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  private let account = AccountIdentity("owner")
  private let folder: URL
  private static let folders = Mutex(0)
  private let errors = ErrorList()

  /// What engines have said, and observations that could not begin.
  final class ErrorList: Sendable {
    private let list = Mutex<[String]>([])
    func add(_ error: any Error) { list.withLock { $0.append("\(error)") } }
    func take() -> [String] {
      list.withLock { list in
        defer { list = [] }
        return list
      }
    }
  }

  init() throws {
    let world = world
    cloud = LocalCloud(now: { world.now })
    let number = Self.folders.withLock { number in
      number += 1
      return number
    }
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent(
        "shopping-tests-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
      )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appendingPathComponent("\(name).sqlite").path }

  /// Keys count up from the device's name: whose uuid() was called is seen from the row.
  static func configuration(_ name: String) -> Configuration {
    let numbers = Mutex(0)
    var configuration = Shopping.configuration {
      let number = numbers.withLock { number in
        number += 1
        return number
      }
      return "\(name)-\(number)"
    }
    // Nothing here has to outlive a power failure.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
    return configuration
  }

  func writer(
    _ name: String,
    _ kind: WriterKind,
    _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseWriter {
    var configuration = Self.configuration(name)
    change(&configuration)
    return switch kind {
    case .queue: try DatabaseQueue(path: path(name), configuration: configuration)
    case .pool: try DatabasePool(path: path(name), configuration: configuration)
    }
  }

  func device(_ name: String, _ kind: WriterKind) throws -> Device {
    try device(name, try writer(name, kind))
  }

  func device(_ name: String, _ writer: any DatabaseWriter) throws -> Device {
    try Device(name, writer, cloud: handler(name), environment: world.environment) { [errors] in
      errors.add($0)
    }
  }

  func handler(_ name: String) -> LocalCloudConnection {
    cloud.connect(device: name, account: account, zoneID: Device.zoneID)
  }

  /// Lets what is due happen.
  func settle() { world.advance(by: .seconds(30)) }

  /// Lets devices send and fetch, one after the other, twice.
  func sync(_ devices: Device...) throws {
    for device in devices + devices {
      if !device.engine.isRunning { try device.engine.start() }
      device.engine.sendChanges()
      settle()
      device.engine.fetchChanges()
      settle()
    }
    #expect(failures() == [])
  }

  /// The errors since the last call.
  func failures() -> [String] { errors.take() }

  /// How many records the cloud has.
  func recordCount() throws -> Int {
    // The zone's own record is none of a row's.
    try cloud.records(account: account, zone: Device.zoneID)
      .count { $0.recordType != "cloudsync_zone" }
  }
}

extension Device {
  func insert(_ titles: String..., into list: String? = nil) throws {
    try writer.write { db in
      for title in titles { try Item(listID: list, title: title).insert(db) }
    }
  }

  func titles() throws -> [String] {
    try writer.read { try String.fetchAll($0, sql: "SELECT title FROM item ORDER BY title") }
  }
}
