import CloudSyncLocalCloud
import CloudSyncSession
import PostgresStore
import PostgresTestServer
import Testing

@Suite("PostgresStore: what handlers must do")
struct ConformanceTests {
  @Test(
    "A local cloud in PostgreSQL does what handlers must do",
    arguments: OperationHandlerConformance.all.indices
  )
  func oneProcess(index: Int) async throws {
    let check = OperationHandlerConformance.all[index]
    for change in Self.variants {
      var options = LocalCloudOptions()
      change(&options)
      let store = try PostgresStore(conninfo: PostgresServer.shared.get().newSchema())
      let made = LocalCloud(store: store, options: options)
      var cloud = ConformanceCloud(
        zoneID: Client.zoneID,
        deleteZone: { reason in
          do throws(LocalCloudStoreError) {
            try made.deleteZone(Client.zoneID, account: Client.account, reason: reason)
          } catch { Issue.record("\(error)") }
        }
      ) { device in made.connect(device: device, account: Client.account, zoneID: Client.zoneID) }
      cloud.connectToOther = { device, zoneID in
        made.connect(device: device, account: Client.account, zoneID: zoneID)
      }

      if let reason = check.reasonLeftOut(for: cloud) { #expect(reason.contains("assetFolder")) }
      for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
    }
  }

  /// Ways of CloudKit that take different paths through a store.
  private static var variants: [(inout LocalCloudOptions) -> Void] {
    [
      { _ in },
      { $0.isAtomic = false },
      { options in
        options.pageSize = 7
        options.emptyPages = 3
        options.itemLimit = 5
        options.knowsWriteTokens = false
      },
    ]
  }

  private static let everyCheck = SharedDatabase.Kind.allCases.flatMap { kind in
    OperationHandlerConformance.all.indices.map { (kind, $0) }
  }

  @Test(
    "56. Two processes on one database, whose requests alternate, do what handlers must do",
    arguments: everyCheck
  )
  func twoProcesses(kind: SharedDatabase.Kind, index: Int) async throws {
    let check = OperationHandlerConformance.all[index]
    let database = try SharedDatabase(kind)
    let probes = [try Probe(database), try Probe(database)]
    let turn = AlternatingHandler.Turn()
    var cloud = ConformanceCloud(
      zoneID: Client.zoneID,
      deleteZone: { reason in
        do { _ = try probes[0].ask(.deleteZone(Client.zoneID, reason: reason.rawValue)) } catch {
          Issue.record("\(error)")
        }
      }
    ) { device in
      AlternatingHandler(probes, turn: turn, device: device, zoneID: Client.zoneID)
    }
    cloud.connectToOther = { device, zoneID in
      AlternatingHandler(probes, turn: turn, device: device, zoneID: zoneID)
    }

    // The stores keep no files: the server does.
    if let reason = check.reasonLeftOut(for: cloud) { #expect(reason.contains("assetFolder")) }
    for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
  }

  @Test(
    "56. Two processes at once: every tag is given once, the feed rises and skips nothing",
    arguments: SharedDatabase.Kind.allCases
  )
  func twoWriters(kind: SharedDatabase.Kind) async throws {
    let database = try SharedDatabase(kind)
    let reader = try Client.ready(database.store(), device: "reader")
    let probes = [try Probe(database), try Probe(database)]

    let tags = try await withThrowingTaskGroup(of: [String].self) { group in
      for writer in 0..<4 {
        group.addTask { try Self.write(by: writer, in: probes[writer % 2]) }
      }
      // Page after page while they write: whatever a page has passed must have been in it.
      var seen: [String] = []
      var token: ChangeToken?
      for _ in 0..<200 {
        let page = try reader.fetch(token).get()
        seen += page.changedRecords.map(\.recordID.name)
        token = page.changeToken
      }
      var tags: [String] = []
      for try await found in group { tags += found }
      while true {
        let page = try reader.fetch(token).get()
        seen += page.changedRecords.map(\.recordID.name)
        token = page.changeToken
        if !page.hasMore { break }
      }
      #expect(seen.count == 200 && Set(seen).count == 200)
      return tags
    }

    #expect(tags.count == 200 && Set(tags).count == 200)
  }

  /// Saves twenty-five times two records; returns their tags.
  private static func write(by writer: Int, in probe: Probe) throws -> [String] {
    let handler = AlternatingHandler(
      [probe],
      turn: AlternatingHandler.Turn(),
      device: "device\(writer)",
      zoneID: Client.zoneID
    )
    let client = Client(handler: handler)
    var tags: [String] = []
    for number in 0..<25 {
      let records = ["r", "s"].map { Client.note("\($0)\(writer)x\(number)") }
      // Where the other process is writing the zone is busy for a moment, and the same request is sent again.
      let token = UInt64(writer * 100 + number + 1)
      var answer = client.modify(records, token: token)
      for _ in 0..<1_000 where answer.error?.code == .zoneBusy {
        answer = client.modify(records, token: token)
      }
      tags += try answer.get().savedRecords.compactMap(\.changeTag)
    }
    return tags
  }
}
