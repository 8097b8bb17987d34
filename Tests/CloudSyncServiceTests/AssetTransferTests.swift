import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWebServices
import Foundation
import Testing

@Suite("Assets over HTTP")
struct AssetTransferTests {
  private let folder: String
  private let world: ServiceWorld
  private let phone: WebServicesOperationHandler
  private let pad: WebServicesOperationHandler
  private static let numbers = Locked(0)

  init() async throws {
    let number = Self.numbers.withLock { number in
      number += 1
      return number
    }
    let base = TestPath.folder
    folder = "\(base)/cloudsync-assets-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    world = ServiceWorld(assetFolder: folder + "/cloud")
    phone = try world.handler("phone", assets: AssetCache(folder: folder + "/phone"))
    pad = try world.handler("pad", assets: AssetCache(folder: folder + "/pad"))
    _ = try await phone.createZone().get()
  }

  /// A file, and the asset that it is.
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

  @Test(
    "Files of 0, 1 and 300,000 bytes, one in a list, come over by digest",
    arguments: [0, 1, 300_000]
  )
  func comesOver(count: Int) async throws {
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    let asset = try asset(content)
    let edit = note("a", ["file": .asset(asset), "list": .list([.asset(asset)])])
    let saved = try await phone.modify([edit], token: 1).get()
    #expect(saved.savedRecords.map { $0["file"] } == [.asset(asset)])

    let record = try await pad.fetch().get().changedRecords.first
    #expect(try bytes(record?["file"]) == content)
    guard case .list(let list)? = record?["list"] else {
      Issue.record("there is no list")
      return
    }
    #expect(try bytes(list.first) == content)
    #expect(record?.contains(edit: edit) == true)
    // Neither side tells where files lie.
    let texts = world.transport.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(!texts.contains { $0.contains(folder) })
  }

  @Test("The folder of downloads keeps within its limits, but for the files of the last page")
  func boundedFolder() async throws {
    let tablet = try world.handler(
      "tablet",
      assets: AssetCache(folder: folder + "/tablet"),
      assetLimits: AssetCacheLimits(byteCount: 1)
    )
    func location(_ name: String, in page: FetchOperation.Response) throws -> String {
      let record = try #require(page.changedRecords.first { $0.recordID.name == name })
      guard case .asset(let asset)? = record["file"] else { throw SyncError(.assetNotAvailable) }
      return asset.location
    }
    let edit = note("a", ["file": .asset(try asset([1, 1], named: "one"))])
    _ = try await phone.modify([edit], token: 1).get()
    let first = try await tablet.fetch().get()
    let file = try location("a", in: first)
    #expect(FileManager.default.fileExists(atPath: file))

    let other = note("b", ["file": .asset(try asset([2, 2], named: "two"))])
    _ = try await phone.modify([other], token: 2).get()
    let second = try await tablet.fetch(FetchOperation(changeToken: first.changeToken)).get()
    let next = try location("b", in: second)
    #expect(FileManager.default.fileExists(atPath: next))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test("51. A file is uploaded once, however often its record conflicts; after a while again")
  func once() async throws {
    let asset = try asset([1, 2, 3])
    _ = try await pad.modify([note("a")], token: 1).get()
    let conflict = try await phone.modify([note("a", ["file": .asset(asset)])], token: 2).get()
    let server = try #require(conflict.failures.first?.error.serverRecord)
    let merged = note("a", ["file": .asset(asset)], tag: server.changeTag)
    #expect(try await phone.modify([merged], token: 3).get().failures.isEmpty)
    func uploads() -> Int { world.transport.requests.count { $0.target.hasPrefix("/assets/1/") } }
    #expect(uploads() == 1)
    world.advance(by: .seconds(16 * 60))
    _ = try await phone.modify([note("b", ["file": .asset(asset)])], token: 4).get()
    #expect(uploads() == 2)
  }

  @Test("5. A file whose record's answer was lost is not uploaded again, and its record is there")
  func lostResponse() async throws {
    let edit = note("a", ["file": .asset(try asset([1, 2, 3]))])
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("records/modify") else { return nil }
      return .alter { (_) throws(HTTPTransportError) in
        throw HTTPTransportError(.sent, "the connection was lost")
      }
    }
    #expect(await phone.modify([edit], token: 1).error?.code == .serverResponseLost)
    world.transport.onRequest { _, _ in nil }

    let again = try await phone.modify([edit], token: 1).get()
    #expect(again.savedRecords.map(\.recordID.name) == ["a"] && again.failures.isEmpty)
    // A cloud that does not know the request again calls it a conflict with what it has: all of the
    // edit, though its file lies elsewhere.
    world.cloud.options.knowsWriteTokens = false
    let unknown = try await phone.modify([edit], token: 1).get()
    let server = try #require(unknown.failures.first?.error.serverRecord)
    #expect(unknown.failures.map(\.error.code) == [.serverRecordChanged])
    #expect(server["file"] != edit["file"] && server.contains(edit: edit))
    #expect(server.changeTag == again.savedRecords.first?.changeTag)
    let uploads = world.transport.requests.filter {
      $0.method == "POST" && $0.target.hasPrefix("/assets/1/")
    }
    #expect(uploads.count == 1)
  }

  @Test("27. A file that is missing or changed fails its record; the others are saved")
  func missing() async throws {
    let good = try asset([1], named: "good")
    let changed = try asset([2], named: "changed")
    try Data([3]).write(to: URL(fileURLWithPath: changed.location))
    let none = Asset(sha256: good.sha256, byteCount: 1, location: folder + "/none")
    // Its bytes are in the cloud already under another record; the file itself is not needed then.
    let answer =
      try await phone.modify(
        [
          note("changed", ["file": .asset(changed)]),
          note(
            "none",
            [
              "file": .asset(
                Asset(sha256: Data(repeating: 1, count: 32), byteCount: 1, location: none.location)
              )
            ]
          ),
          note("good", ["file": .asset(good)]), note("plain"),
        ],
        token: 1
      )
      .get()
    #expect(answer.failures.map(\.recordID.name) == ["changed", "none"])
    #expect(answer.failures.map(\.error.code) == [.assetFileModified, .assetFileNotFound])
    #expect(answer.savedRecords.map(\.recordID.name) == ["good", "plain"])
  }

  @Test(
    "65. A place that a client names is never opened; a digest that was not uploaded is missing"
  )
  func places() async throws {
    let secret = try asset([7, 7], named: "secret")
    let digest = secret.sha256.base64EncodedString()
    for more in [
      "", #","location":"\#(secret.location)""#, #","fileURL":"file://\#(secret.location)""#,
    ] {
      let body = """
        {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":
        {"recordName":"a","recordType":"Note","fields":{"file":{"type":"ASSETID",
        "value":{"sha256":"\(digest)","size":2\(more)}}}}}]}
        """
      let response = await world.post("records/modify", body)
      #expect(response.status == 200 && response.text.contains("\"cloudErrorCode\":16"))
    }
    #expect(try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID) == [])
  }

  @Test(
    "63. Addresses of files cannot be forged, changed, used for something else or kept for later"
  )
  func addresses() async throws {
    let asset = try asset([1, 2, 3])
    _ = try await phone.modify([note("a", ["file": .asset(asset)])], token: 1).get()
    let page = await world.post("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
    let text = try #require(page.text.firstRange(of: #""downloadURL":""#))
    let url = String(page.text[text.upperBound...].prefix { $0 != "\"" })
    func status(_ method: String, _ target: String) async -> Int {
      await world.service.respond(to: HTTPRequest(method: method, target: target)).status
    }
    #expect(await status("GET", url) == 200)
    #expect(await status("POST", url) == 405)
    // Whoever can send files is given the file, and nobody has read it.
    let sent = Locked<HTTPResponse?>(nil)
    world.service.respond(to: HTTPRequest(method: "GET", target: url), sendingFiles: true) {
      [sent] response in sent.withLock { $0 = response }
    }
    let response = try #require(sent.withLock { $0 })
    #expect(response.status == 200 && response.body.isEmpty && response.file?.byteCount == 3)
    // Another account's token opens nothing with it, as if there were no file.
    _ = try world.client("mac", ServiceWorld.bob)
    let missing = await world.service.respond(to: HTTPRequest(method: "GET", target: "/assets/1/x"))
    for (device, account, expected) in [
      ("phone", ServiceWorld.alice, 200), ("mac", ServiceWorld.bob, missing.status),
    ] {
      let request = HTTPRequest(
        method: "GET",
        target: url,
        headers: ["Authorization": "Bearer \(ServiceWorld.token(device, account))"]
      )
      let response = await world.service.respond(to: request)
      #expect(response.status == expected)
      if expected != 200 { #expect(response.body == missing.body) }
    }
    for place in url.indices.dropFirst(10) where place.utf16Offset(in: url) % 7 == 0 {
      var forged = url
      forged.replaceSubrange(place...place, with: url[place] == "0" ? "1" : "0")
      #expect(await status("GET", forged) == 404)
    }
    for target in ["/assets/1/", "/assets/1/.", "/assets/2/x", "/assets/1/../../etc/passwd"] {
      #expect(await status("GET", target) == 404)
    }
    world.advance(by: .seconds(16 * 60))
    #expect(await status("GET", url) == 404)
  }

  @Test(
    "50. An upload address elsewhere gets no byte",
    arguments: [
      "https://10.0.0.1/x", "http://sync.example.org/x", "https://sync.example.org.evil/x",
      "//evil/x", "file:///etc/passwd", "x",
    ]
  )
  func elsewhere(url: String) async throws {
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("assets/upload") else { return nil }
      return .answer(HTTPResponse(status: 200, #"{"tokens":[{"fieldName":"f","url":"\#(url)"}]}"#))
    }
    let before = world.transport.requests.count
    let edit = note("a", ["file": .asset(try asset([1]))])
    let result = await phone.modify([edit], token: 1)
    #expect(result.itemCodes == ["a": .assetNotAvailable])
    #expect(world.transport.requests.count == before + 1)
  }

  @Test("52. A download that breaks fails the page; one that is missing fails its record")
  func downloads() async throws {
    let records = [note("a", ["file": .asset(try asset([1, 2]))]), note("b")]
    _ = try await phone.modify(records, token: 1).get()
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      if request.method == "GET" { throw HTTPTransportError(.sent, "the connection was lost") }
      return nil
    }
    #expect(await pad.fetch().error?.code == .networkFailure)
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      request.method == "GET" ? .answer(HTTPResponse(status: 404, "")) : nil
    }
    let page = try await pad.fetch().get()
    #expect(page.changedRecords.map(\.recordID.name) == ["b"])
    #expect(page.failures.map(\.error.code) == [.assetNotAvailable])
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      request.method == "GET" ? .answer(HTTPResponse(status: 200, "other")) : nil
    }
    #expect(try await pad.fetch().get().failures.map(\.error.code) == [.assetNotAvailable])
    world.transport.onRequest { _, _ in nil }
    let lookup = FetchOperation(lookingUp: [records[0].recordID])
    #expect(try bytes(try await pad.fetch(lookup).get().changedRecords.first?["file"]) == [1, 2])
  }

  @Test(
    "A transfer that is refused for now fails the request, with the wait that the service names",
    arguments: [
      (429, SyncError.Code.requestRateLimited), (503, .serviceUnavailable),
      (500, .serviceUnavailable), (408, .networkFailure), (421, .networkFailure),
      (302, .networkFailure), (502, .networkFailure),
    ]
  )
  func refusedForNow(status: Int, code: SyncError.Code) async throws {
    let edit = note("a", ["file": .asset(try asset([1, 2]))])
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasPrefix("/assets/1/") else { return nil }
      return .answer(HTTPResponse(status: status, headers: ["retry-after": "30"]))
    }
    let upload = await phone.modify([edit, note("b")], token: 1)
    #expect(upload.error?.code == code)
    #expect(upload.error?.retryAfter == .seconds(30))
    #expect(upload.itemCodes.isEmpty)
    world.transport.onRequest { _, _ in nil }
    _ = try await phone.modify([edit, note("b")], token: 1).get()

    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasPrefix("/assets/1/") else { return nil }
      return .answer(HTTPResponse(status: status, headers: ["retry-after": "30"]))
    }
    let download = await pad.fetch()
    #expect(download.error?.code == code && download.error?.retryAfter == .seconds(30))
  }

  @Test("A server that fails is waited for three times in a row in transfers too")
  func serverErrors() async throws {
    _ = try await phone.modify([note("a", ["file": .asset(try asset([1]))])], token: 1).get()
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      request.path.hasPrefix("/assets/1/") ? .answer(HTTPResponse(status: 500, "")) : nil
    }
    // The page itself comes every time: that one is a success.
    for _ in 0..<5 { #expect(await pad.fetch().error?.code == .serviceUnavailable) }
  }

  @Test("A cloud that keeps no files fails the record that has one, and no other")
  func noFiles() async throws {
    let world = ServiceWorld()
    let phone = try world.handler("phone")
    _ = try await phone.createZone().get()
    let edit = note("a", ["file": .asset(try asset([1]))])
    let answer = try await phone.modify([edit, note("b")], token: 1).get()
    #expect(answer.failures.map(\.error.code) == [.assetNotAvailable])
    #expect(answer.savedRecords.map(\.recordID.name) == ["b"])
  }

  @Test("A request whose file is back when it is repeated is another one, and not refused")
  func fileComesBack() async throws {
    let file = try asset([1, 2])
    let edits = [note("a", ["file": .asset(file)]), note("b")]
    try FileManager.default.removeItem(atPath: file.location)
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("records/modify") else { return nil }
      return .alter { (_) throws(HTTPTransportError) in
        throw HTTPTransportError(.sent, "the connection was lost")
      }
    }
    #expect(await phone.modify(edits, token: 1).error?.code == .serverResponseLost)
    world.transport.onRequest { _, _ in nil }
    // The same part again is answered as the first time.
    let same = try await phone.modify(edits, token: 1).get()
    #expect(same.failures.map(\.error.code) == [.assetFileNotFound])
    #expect(same.savedRecords.map(\.recordID.name) == ["b"])

    _ = try asset([1, 2])
    let whole = try await phone.modify(edits, token: 1).get()
    #expect(whole.savedRecords.map(\.recordID.name) == ["a"])
    // The session takes what is there already for saved.
    #expect(whole.failures.map(\.error.code) == [.serverRecordChanged])
    #expect(whole.failures.first?.error.serverRecord?.contains(edit: edits[1]) == true)
  }

  @Test("Records whose files are too much for one request come in several; one alone goes")
  func manyBytes() async throws {
    func large(_ name: String) -> Record {
      let asset = Asset(
        sha256: Data(SHA256.digest(of: Array(name.utf8))),
        byteCount: 15_000_000,
        location: "\(folder)/\(name)"
      )
      return note(name, ["file": .asset(asset)])
    }
    let before = world.transport.requests.count
    let error = await phone.modify([large("a"), large("b")], token: 1).error
    #expect(error?.code == .limitExceeded && world.transport.requests.count == before)
    // Of one alone the file is looked for.
    let one = await phone.modify([large("a")], token: 2).error
    #expect(one?.itemErrors.map(\.error.code) == [.assetFileNotFound])
  }

  @Test("A file that the service has lost since it was uploaded is uploaded again")
  func lostAtTheService() async throws {
    let file = try asset([1, 2, 3])
    _ = try await phone.modify([note("a", ["file": .asset(file)])], token: 1).get()
    try FileManager.default.removeItem(atPath: folder + "/cloud")
    let edit = note("b", ["file": .asset(file)])
    let answer = try await phone.modify([edit], token: 2).get()
    // Whose file was changed is tried again.
    #expect(answer.failures.map(\.error.code) == [.assetFileModified])
    let again = try await phone.modify([edit], token: 3).get()
    #expect(again.savedRecords.map(\.recordID.name) == ["b"])
  }

  @Test("A file of the folder of downloads that was cut is fetched again")
  func cutDownload() async throws {
    let content = [UInt8](repeating: 7, count: 1_000)
    let edit = note("a", ["file": .asset(try asset(content))])
    _ = try await phone.modify([edit], token: 1).get()
    let first = try await pad.fetch().get().changedRecords.first
    guard case .asset(let kept)? = first?["file"] else {
      Issue.record("there is no file")
      return
    }
    try Data([7]).write(to: URL(fileURLWithPath: kept.location))
    let record = try await pad.fetch().get().changedRecords.first
    #expect(try bytes(record?["file"]) == content)
  }

  @Test("A folder that is named from where the process is stays where it is")
  func relativeFolder() {
    let folder = AssetCache(folder: "files").folder
    #expect(folder.hasPrefix("/") && folder.hasSuffix("/files"))
  }
}
