import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncWebServices

@Suite("Apple's service over HTTP")
struct AppleProfileTests {
  private let folder: String
  private let world: ServiceWorld
  private let apple: AppleService
  private let transport: InProcessTransport
  private let transfers: InProcessTransport
  private let phone: WebServicesOperationHandler
  private let pad: WebServicesOperationHandler
  private static let numbers = Locked(0)

  init() async throws {
    let number = Self.numbers.withLock { number in
      number += 1
      return number
    }
    let base = FileManager.default.temporaryDirectory.path
    folder = "\(base)/cloudsync-apple-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    world = ServiceWorld(assetFolder: folder + "/cloud") { $0.knowsWriteTokens = false }
    apple = AppleService(world)
    transport = apple.transport
    transfers = apple.transport
    let (apple, transport, transfers, folder, world) = (apple, transport, transfers, folder, world)
    func handler(_ device: String) throws -> WebServicesOperationHandler {
      let client = WebServicesClient(
        address: try AppleService.address(),
        authorization: .webToken(
          apiToken: Secret(AppleService.apiToken),
          store: MemoryTokenStore(apple.signIn(device))
        ),
        transport: transport,
        transfers: transfers,
        now: { world.now }
      )
      return WebServicesOperationHandler(
        client: client,
        zoneID: ServiceWorld.zoneID,
        assets: AssetCache(folder: "\(folder)/\(device)"),
        encryptedFields: ["Note": ["secret"]]
      )
    }
    phone = try handler("phone")
    pad = try handler("pad")
    _ = try await phone.createZone().get()
  }

  private func asset(_ bytes: [UInt8], named name: String = "file") throws -> Asset {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let digest = Data(SHA256.digest(of: bytes))
    return Asset(sha256: digest, byteCount: Int64(bytes.count), location: path)
  }

  private func bytes(_ value: FieldValue?) throws -> [UInt8]? {
    guard case .asset(let asset)? = value else { return nil }
    return Array(try Data(contentsOf: URL(fileURLWithPath: asset.location)))
  }

  // MARK: Files

  @Test("Files go to Apple's hosts without a token, and come back by the digest of their bytes")
  func files() async throws {
    let first = try asset([1, 2, 3], named: "first")
    let second = try asset([], named: "second")
    let edit = note("a", ["file": .asset(first), "files": .list([.asset(first), .asset(second)])])
    #expect(try await phone.modify([edit], token: 1).get().savedRecords.count == 1)
    let record = try await pad.fetch().get().changedRecords.first
    #expect(
      record?["file"].map { if case .asset(let a) = $0 { a.sha256 == first.sha256 } else { false } }
        == true
    )
    #expect(try bytes(record?["file"]) == [1, 2, 3])
    #expect(record?.contains(edit: edit) == true)
    #expect(transport.origins == [AppleService.origin])
    #expect(transfers.origins == [AppleService.files])
    #expect(apple.violations == [])
    // What is here already is not downloaded again.
    let before = transfers.requests.count
    #expect(try bytes(try await pad.fetch().get().changedRecords.first?["file"]) == [1, 2, 3])
    #expect(transfers.requests.count == before)
  }

  @Test(
    "51. A file is uploaded once for a field of a record, whose receipt is sent again; after a while anew"
  )
  func once() async throws {
    let file = try asset([7])
    _ = try await pad.modify([note("a")], token: 1).get()
    let conflict = try await phone.modify([note("a", ["file": .asset(file)])], token: 2).get()
    let server = try #require(conflict.failures.first?.error.serverRecord)
    let merged = note("a", ["file": .asset(file)], tag: server.changeTag)
    #expect(try await phone.modify([merged], token: 3).get().failures.isEmpty)
    func uploads() -> Int { transfers.requests.count { $0.method == "POST" } }
    #expect(uploads() == 1)
    // The receipt was given for that record's field.
    _ = try await phone.modify([note("b", ["file": .asset(file)])], token: 4).get()
    #expect(uploads() == 2)
    world.advance(by: .seconds(16 * 60))
    _ = try await phone.modify([note("c", ["file": .asset(file)])], token: 5).get()
    #expect(uploads() == 3)
  }

  @Test("51. A receipt that the service does not take any more is not sent a second time")
  func endedReceipt() async throws {
    let file = try asset([7])
    transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("records/modify") else { return nil }
      let text =
        #"{"records":[{"recordName":"a","serverErrorCode":"BAD_REQUEST","reason":"old receipt"}]}"#
      return .answer(HTTPResponse(status: 200, text))
    }
    #expect(
      await phone.modify([note("a", ["file": .asset(file)])], token: 1).itemCodes == [
        "a": .invalidArguments
      ]
    )
    transport.onRequest { _, _ in nil }
    // The response above brought no token, so that the one that was stored is the next.
    _ = try await phone.modify([note("a", ["file": .asset(file)])], token: 2).get()
    #expect(transfers.requests.count { $0.method == "POST" } == 2)
  }

  @Test(
    "50. Addresses that are not Apple's get no byte",
    arguments: [
      "https://10.0.0.1/x", "http://cvws.icloud-content.com/x",
      "https://cvws.icloud-content.com.evil.org/x",
      "https://icloud-content.com.evil/x", "https://evilicloud-content.com/x",
      "https://user@cvws.icloud-content.com/x", "https://cvws.icloud-content.com:8443/x",
      "https://evil.org\\.icloud-content.com/x", "https://evil.org#.icloud-content.com/",
      "https://evil.org?.icloud-content.com/", "//cvws.icloud-content.com/x", "/x",
      "file:///etc/passwd",
      "https://cvws.icloud-content.com//x", "", "https://.icloud-content.com",
      "https://127.0.0.1/.icloud-content.com",
    ]
  )
  func elsewhere(url: String) async throws {
    let text = url.replacing("\\", with: "\\\\")
    transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("assets/upload") else { return nil }
      return .answer(HTTPResponse(status: 200, #"{"tokens":[{"fieldName":"f","url":"\#(text)"}]}"#))
    }
    let result = await phone.modify([note("a", ["file": .asset(try asset([1]))])], token: 1)
    #expect(result.itemCodes == ["a": .assetNotAvailable])
    #expect(transfers.requests.isEmpty)
  }

  @Test(
    "52. A download that breaks fails the page; one that is missing, or too short, fails its record"
  )
  func downloads() async throws {
    let records = [note("a", ["file": .asset(try asset([1, 2]))]), note("b")]
    _ = try await phone.modify(records, token: 1).get()
    transfers.onRequest { (_, _) throws(HTTPTransportError) in
      throw HTTPTransportError(.sent, "the connection was lost")
    }
    #expect(await pad.fetch().error?.code == .networkFailure)
    for response in [HTTPResponse(status: 404, ""), HTTPResponse(status: 200, "x")] {
      transfers.onRequest { _, _ in .answer(response) }
      let page = try await pad.fetch().get()
      #expect(page.changedRecords.map(\.recordID.name) == ["b"])
      #expect(page.failures.map(\.error.code) == [.assetNotAvailable])
    }
    transfers.onRequest { _, _ in nil }
    let lookup = FetchOperation(lookingUp: [records[0].recordID])
    #expect(try bytes(try await pad.fetch(lookup).get().changedRecords.first?["file"]) == [1, 2])
  }

  @Test("Without a folder for files a record that has one fails, with words that say what to do")
  func noCache() async throws {
    _ = try await phone.modify([note("a", ["file": .asset(try asset([1]))]), note("b")], token: 1)
      .get()
    let bare = WebServicesOperationHandler(
      client: WebServicesClient(
        address: try AppleService.address(),
        authorization: .webToken(
          apiToken: Secret(AppleService.apiToken),
          store: MemoryTokenStore(apple.signIn("mac"))
        ),
        transport: transport
      ),
      zoneID: ServiceWorld.zoneID
    )
    let page = try await bare.fetch().get()
    #expect(page.changedRecords.map(\.recordID.name) == ["b"])
    #expect(page.failures.first?.error.message.contains("AssetCache") == true)
  }

  // MARK: Words

  @Test(
    "Encrypted fields are sent with their plain type, and known though the service does not say so"
  )
  func encrypted() async throws {
    apple.echoesEncryption.withLock { $0 = false }
    var record = note("a", ["secret": "x", "open": "y"])
    record.encryptedKeys = ["secret"]
    let saved = try await phone.modify([record], token: 1).get().savedRecords
    let sent = String(decoding: transport.requests.last?.body ?? [], as: UTF8.self)
    #expect(sent.contains(#""secret":{"value":"x","type":"STRING","isEncrypted":true}"#))
    #expect(try await pad.fetch().get().changedRecords.map(\.encryptedKeys) == [["secret"]])
    let lookup = FetchOperation(lookingUp: [record.recordID])
    #expect(try await pad.fetch(lookup).get().changedRecords.map(\.encryptedKeys) == [["secret"]])
    let conflict = try await pad.modify([note("a", ["open": "z"])], token: 2).get().failures.first
    #expect(conflict?.error.serverRecord?.encryptedKeys == ["secret"])
    #expect(saved.first?.changeTag == conflict?.error.serverRecord?.changeTag)
  }

  @Test(
    "What only the project's own server knows is not sent; numbers go as text, empty lists without a type"
  )
  func words() async throws {
    var edit = note(
      "a",
      [
        "n": .int64(.max), "none": [], "gone": .null,
        "t": .timestamp(Timestamp(nanoseconds: 5_000_000)),
      ]
    )
    edit.creationDate = Timestamp(nanoseconds: 1)
    edit.modificationDate = Timestamp(nanoseconds: 2)
    _ = try await phone.modify([edit], token: 1).get()
    let request = try #require(transport.requests.last)
    let text = String(decoding: request.body, as: UTF8.self)
    #expect(text.contains(#""n":{"value":"9223372036854775807","type":"INT64"}"#))
    #expect(text.contains(#""none":{"value":[]}"#) && text.contains(#""gone":{"value":null}"#))
    #expect(text.contains(#""t":{"value":5,"type":"TIMESTAMP"}"#))
    #expect(text.contains(#""numbersAsStrings":true"#) && text.contains(#""atomic":false"#))
    #expect(
      request.headers["X-CloudSync-Write-Token"] == nil && request.headers["Authorization"] == nil
    )
    #expect(apple.violations == [])
    #expect(
      await phone.modify([note("b", ["x": .double(.nan)])], token: 2).itemCodes == [
        "b": .invalidArguments
      ]
    )
  }

  @Test("Deletions come without a type, and a page whose moreComing is null is the last")
  func deletions() async throws {
    let saved = try await phone.modify([note("a"), note("b")], token: 1).get()
    _ = try await phone.modify([], delete: [saved.savedRecords[0].recordID], token: 2).get()
    let page = try await pad.fetch().get()
    #expect(page.deletedRecords.map(\.recordType) == [nil] && !page.hasMore)
    #expect(page.deletedRecordIDs.map(\.name) == ["a"])
    #expect(page.changedRecords.map(\.recordID.name) == ["b"])
  }

  @Test("The courier is asked for the database's environment, and waits at Apple's host alone")
  func courier() async throws {
    let polled = Locked<[HTTPRequest]>([])
    let told = Locked(0)
    let (changes, change) = AsyncStream<Void>.makeStream()
    let (stopped, stop) = AsyncStream<Void>.makeStream()
    transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("tokens/create") else { return nil }
      polled.withLock { $0.append(request) }
      let text = #"{"webcourierURL":"https://webcourier.push.apple.com/aps?tok=a%2Bb"}"#
      return .answer(HTTPResponse(status: 200, text))
    }
    transfers.onRequest { (request, _) throws(HTTPTransportError) in
      polled.withLock { $0.append(request) }
      return .answer(HTTPResponse(status: 200, told.withLock { $0 == 0 } ? "{}" : ""))
    }
    let client = WebServicesClient(
      address: try AppleService.address(),
      authorization: .webToken(
        apiToken: Secret(AppleService.apiToken),
        store: MemoryTokenStore(apple.signIn("mac"))
      ),
      transport: transport,
      transfers: transfers,
      now: { [world] in world.now }
    )
    let pushes = WebServicesPushes(
      client: client,
      now: { [world] in world.now },
      pause: { _ in for await _ in stopped {} },
      onChange: {
        told.withLock { $0 += 1 }
        change.yield()
      }
    )
    pushes.start()
    for await _ in changes { break }
    pushes.stop()
    stop.finish()
    let requests = polled.withLock { $0 }
    #expect(requests[0].target.hasPrefix("\(AppleService.path)/tokens/create?"))
    #expect(
      String(decoding: requests[0].body, as: UTF8.self) == #"{"apnsEnvironment":"development"}"#
    )
    #expect(requests[1].target == "/aps?tok=a%2Bb" && requests[1].method == "GET")
  }

  // MARK: Conformance

  @Test(
    "Client and scripted service do what handlers must do",
    arguments: SuiteSize.pairs(5, Array(OperationHandlerConformance.all.indices), [false, true])
  )
  func conformance(index: Int, isAtomic: Bool) async throws {
    let check = OperationHandlerConformance.all[index]
    let world = ServiceWorld(assetFolder: folder + "/conformance") { $0.knowsWriteTokens = false }
    let apple = AppleService(world)
    var capabilities = ConformanceCapabilities()
    capabilities.assetFolder = folder + "/files"
    capabilities.hasFiniteNumbersOnly = true
    capabilities.knowsWriteTokens = false
    capabilities.tellsDeletionReasons = false
    let (transport, folder) = (apple.transport, folder)
    let address = try AppleService.address()
    let cloud = ConformanceCloud(
      zoneID: ServiceWorld.zoneID,
      capabilities: capabilities,
      deleteZone: { reason in
        _ = try? world.cloud.deleteZone(
          ServiceWorld.zoneID,
          account: ServiceWorld.alice,
          reason: reason
        )
      }
    ) { device in
      WebServicesOperationHandler(
        client: WebServicesClient(
          address: address,
          authorization: .webToken(
            apiToken: Secret(AppleService.apiToken),
            store: MemoryTokenStore(apple.signIn(device))
          ),
          transport: transport,
          now: { world.now }
        ),
        zoneID: ServiceWorld.zoneID,
        isAtomic: isAtomic,
        assets: AssetCache(folder: "\(folder)/conformance-\(device)")
      )
    }
    for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
    #expect(apple.violations == [])
  }
}
