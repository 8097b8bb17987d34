import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import GRDB

/// Two devices, one on a DatabaseQueue and one on a DatabasePool, and a cloud that is a file.
struct Demo {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "shopping-\(UUID().uuidString)",
      isDirectory: true
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Runs it, and returns whether both databases are equal in the end.
  func run() async throws -> Bool {
    let configuration = Shopping.configuration { UUID().uuidString.lowercased() }
    let cloud = LocalCloud(store: try SQLiteStore(path: path("cloud.sqlite")))
    let phone = try device(
      "phone",
      try DatabaseQueue(path: path("phone.sqlite"), configuration: configuration),
      cloud
    )
    let laptop = try device(
      "laptop",
      try DatabasePool(path: path("laptop.sqlite"), configuration: configuration),
      cloud
    )
    print("The phone has a DatabaseQueue, the laptop a DatabasePool, in \(folder.path).")

    print("\nThe phone makes a list, and the laptop gets it")
    let breakfast = try await phone.writer.write { db in
      let list = try ShoppingList(title: "Breakfast").insertAndFetch(db)
      for title in ["Bread", "Milk"] { try Item(listID: list.id, title: title).insert(db) }
      return list
    }
    await sync(phone, laptop)
    try show(laptop)

    print("\nBoth edit it, each without the other")
    try await phone.writer.write { db in
      try Item.filter { $0.title == "Milk" }.updateAll(db) { $0.isDone.set(to: true) }
      try Item(listID: breakfast.id, title: "Jam").insert(db)
    }
    try await laptop.writer.write { db in
      try Item.filter { $0.title == "Milk" }.updateAll(db) { $0.title.set(to: "Oat milk") }
      try Item.filter { $0.title == "Bread" }.deleteAll(db)
      let list = try ShoppingList(title: "Garden").insertAndFetch(db)
      try Item(listID: list.id, title: "Seeds", amount: 3).insert(db)
    }
    await sync(phone, laptop, phone)
    try show(phone)
    try show(laptop)

    let isEqual = try phone.lines() == laptop.lines()
    for device in [phone, laptop] {
      device.engine.stop()
      try device.writer.close()
    }
    if isEqual { try FileManager.default.removeItem(at: folder) }
    return isEqual
  }

  private func device(
    _ name: String,
    _ writer: any DatabaseWriter,
    _ cloud: LocalCloud
  ) throws -> Device {
    let connection = cloud.connect(
      device: name,
      account: AccountIdentity("owner"),
      zoneID: Device.zoneID
    )
    let device = try Device(name, writer, cloud: connection) { print("\(name): \($0)") }
    try device.engine.start()
    return device
  }

  private func sync(_ devices: Device...) async {
    for device in devices { await device.engine.syncChanges() }
  }

  private func show(_ device: Device) throws {
    print("\(device.name):")
    for line in try device.lines() { print("  \(line)") }
  }
}
