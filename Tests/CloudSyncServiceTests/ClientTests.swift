@testable import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices
import Foundation
import Testing

@Suite("WebServicesOperationHandler")
struct ClientTests {
  private let world = ServiceWorld()
  private let phone: WebServicesOperationHandler
  private let pad: WebServicesOperationHandler

  init() throws {
    phone = try world.handler("phone")
    pad = try world.handler("pad")
  }

  /// Records that only their tag tells what is known of them.
  private func saved(_ names: [String]) async throws -> [Record] {
    _ = try await phone.createZone().get()
    return try await phone.modify(names.map { note($0) }, token: 100).get().savedRecords
  }

  /// A response as Apple gives it: a conflict without the server's record.
  private static func withoutServerRecords(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    var text = response.text
    while let start = text.firstRange(of: #","serverRecord":{"#) {
      // The record is the last member of its error.
      var depth = 1
      var end = start.upperBound
      while depth > 0 {
        if text[end] == "{" { depth += 1 }
        if text[end] == "}" { depth -= 1 }
        end = text.index(after: end)
      }
      text.removeSubrange(start.lowerBound..<end)
    }
    response.body = Array(text.utf8)
    return response
  }

  @Test(
    "40. Three conflicts in a batch: one look-up; one gone is 11; where it fails, 14 without record"
  )
  func conflicts() async throws {
    let records = try await saved(["a", "b", "c", "d"])
    for (index, record) in records.prefix(3).enumerated() {
      let edit = record.withChangeTag(record.changeTag)
      _ = try await pad.modify([edit], token: UInt64(200 + index)).get()
    }
    let strip: InProcessTransport.Script = { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("records/modify") else { return nil }
      return .alter { Self.withoutServerRecords($0) }
    }
    world.transport.onRequest(strip)
    let before = world.transport.operations.count
    let edits = records.map { note($0.recordID.name, ["x": 9], tag: $0.changeTag) }

    let answer = try await phone.modify(edits, token: 300).get()
    #expect(
      Array(world.transport.operations.dropFirst(before)) == ["records/modify", "records/lookup"]
    )
    #expect(answer.failures.map(\.recordID.name) == ["a", "b", "c"])
    #expect(answer.failures.allSatisfy { $0.error.serverRecord?["x"] == 1 })
    #expect(answer.savedRecords.map(\.recordID.name) == ["d"])

    // One of them is gone by the time of the look-up.
    let cloud = world.cloud.connect(
      device: "mac",
      account: ServiceWorld.alice,
      zoneID: ServiceWorld.zoneID
    )
    world.transport.onRequest { (request, number) throws(HTTPTransportError) in
      guard request.path.hasSuffix("records/lookup") else { return try strip(request, number) }
      cloud.handle(
        modifyOperation: ModifyOperation(recordIDsToDelete: [records[1].recordID]),
        context: RequestContext(
          attempt: Attempt(epoch: 9, number: 9),
          writeToken: WriteToken(nonce: 9, number: 9),
          deadline: .distantFuture
        )
      ) { _ in }
      return nil
    }
    let gone = try await phone.modify(Array(edits.prefix(3)), token: 301).get()
    #expect(gone.failures.map(\.error.code.rawValue) == [14, 11, 14])

    world.transport.onRequest { (request, number) throws(HTTPTransportError) in
      if request.path.hasSuffix("records/lookup") {
        return .answer(HTTPResponse(status: 503, "{}"))
      }
      return try strip(request, number)
    }
    let blind = try await phone.modify([edits[0]], token: 302).get()
    #expect(blind.failures.map(\.error.code) == [.serverRecordChanged])
    #expect(blind.failures[0].error.serverRecord == nil)
  }

  @Test("A lost response is repeated with its token, and answered as the first time")
  func lostResponse() async throws {
    _ = try await phone.createZone().get()
    world.transport.onRequest { _, _ in
      .alter { (_) throws(HTTPTransportError) in
        throw HTTPTransportError(.sent, "the connection was lost")
      }
    }
    let lost = await phone.modify([note("a")], token: 1)
    #expect(lost.error?.code == .serverResponseLost)
    #expect(await phone.fetch().error?.code == .networkFailure)
    world.transport.onRequest { _, _ in nil }

    let again = try await phone.modify([note("a")], token: 1).get()
    #expect(again.savedRecords.count == 1 && again.failures.isEmpty)
    let stored = try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID)
    #expect(stored.map(\.changeTag) == again.savedRecords.map(\.changeTag))
  }

  @Test(
    "44. A response that does not fit counts as lost; its repeat has the same token and doubles nothing"
  )
  func misfits() async throws {
    _ = try await phone.createZone().get()
    let records = ["a", "b", "c"].map { note($0) }
    let changes = [
      (#""records":["#, #""records":[{"recordName":"z","recordType":"Note"},"#),
      (#""recordName":"b"#, #""recordName":"a"#), (#","recordChangeTag""#, #","tag""#),
      ("]}", ",{}]}"), ("}]}", "}"),
    ]
    for (number, (old, new)) in changes.enumerated() {
      world.transport.onRequest { _, _ in
        .alter { response in HTTPResponse(status: 200, response.text.replacing(old, with: new)) }
      }
      let token = UInt64(1_000 + number)
      let edits = records.map { note("\($0.recordID.name)\(number)") }
      let lost = await phone.modify(edits, token: token)
      #expect(lost.error?.code == .serverResponseLost, "\(old)")
      world.transport.onRequest { _, _ in nil }
      let again = try await phone.modify(edits, token: token).get()
      #expect(again.failures.isEmpty)
      let found = try await pad.fetch(FetchOperation(lookingUp: edits.map(\.recordID))).get()
      #expect(found.changedRecords.map(\.changeTag) == again.savedRecords.map(\.changeTag))
      let sent = world.transport.requests.filter { $0.path.hasSuffix("records/modify") }.suffix(2)
      #expect(Set(sent.map { $0.headers["X-CloudSync-Write-Token"] }).count == 1)
    }
  }

  @Test("What was not sent is a network that is away, and one that is missing is told apart")
  func notSent() async throws {
    for (progress, code) in [
      (HTTPTransportError.Progress.noNetwork, SyncError.Code.networkUnavailable),
      (.notSent, .networkFailure), (.sent, .serverResponseLost),
    ] {
      world.transport.onRequest { (_, _) throws(HTTPTransportError) in
        throw HTTPTransportError(progress, "reason")
      }
      #expect(await phone.modify([note("a")], token: 1).error?.code == code)
    }
  }

  @Test("A server that fails is waited for three times in a row, and then no more")
  func serverErrors() async throws {
    _ = try await phone.createZone().get()
    world.transport.onRequest { _, _ in .answer(HTTPResponse(status: 500, "")) }
    var codes: [SyncError.Code?] = []
    for _ in 0..<4 { codes.append(await phone.fetch().error?.code) }
    #expect(
      codes == [.serviceUnavailable, .serviceUnavailable, .serviceUnavailable, .internalError]
    )
    world.transport.onRequest { _, _ in nil }
    _ = try await phone.fetch().get()
    world.transport.onRequest { _, _ in .answer(HTTPResponse(status: 500, "")) }
    #expect(await phone.fetch().error?.code == .serviceUnavailable)
  }

  @Test("43. 70 empty pages with more coming are gone through")
  func emptyPages() async throws {
    world.cloud.options.emptyPages = 70
    _ = try await saved(["a"])
    var token: ChangeToken?
    var pages = 0
    var names: [String] = []
    repeat {
      let page = try await phone.fetch(FetchOperation(changeToken: token)).get()
      names += page.changedRecords.map(\.recordID.name)
      token = page.changeToken
      pages += 1
      if !page.hasMore { break }
    } while pages < 100
    #expect(names == ["a"] && pages == 71)
  }

  @Test("43. A service whose token stays where it is halts the fetch, and says so")
  func stuckToken() async throws {
    _ = try await phone.createZone().get()
    world.transport.onRequest { (request, _) throws(HTTPTransportError) in
      guard request.path.hasSuffix("changes/zone") else { return nil }
      let text =
        #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"t","moreComing":true,"records":[]}]}"#
      return .answer(HTTPResponse(status: 200, text))
    }
    var configuration = SyncConfiguration()
    configuration.firstWait = .milliseconds(1)
    configuration.longestWait = .milliseconds(2)
    let session = CloudSyncSession(
      operationHandler: phone,
      zoneID: ServiceWorld.zoneID,
      configuration: configuration
    )
    let halts = session.haltedSubject.publisher.values(buffering: .all)
    session.start()
    session.fetch(FetchOperation())
    for await halt in halts {
      guard let halt else { continue }
      #expect(halt.code == .tokenStuck)
      break
    }
    #expect(session.state.isHalted)
    let fetches = world.transport.operations.count { $0 == "changes/zone" }
    #expect((2...1_000).contains(fetches))
    session.stop()
  }

  @Test("23. A token of another cloud is refused before or by the service, and never crashes")
  func strangeTokens() async throws {
    _ = try await phone.createZone().get()
    for bytes in [[0xff, 0xfe], [0], Array("AAAA".utf8), Array(repeating: 0x41, count: 100_000)] {
      let token = try #require(ChangeToken(.init(bytes.map { UInt8($0) })))
      let code = await phone.fetch(FetchOperation(changeToken: token)).error?.code
      #expect(code == .invalidArguments, "\(bytes.prefix(4))")
    }
  }

  @Test(
    "7. A timestamp of a nanosecond over HTTP: one save, the value as it is fetched, no second request"
  )
  func timestamps() async throws {
    let session = CloudSyncSession(operationHandler: phone, zoneID: ServiceWorld.zoneID)
    session.start()
    let fine = FieldValue.timestamp(Timestamp(nanoseconds: 1_700_000_000_123_456_789))
    let response = try await session.perform(ModifyOperation(records: [note("a", ["t": fine])]))
    let coarse = FieldValue.timestamp(Timestamp(nanoseconds: 1_700_000_000_123_000_000))
    #expect(response.savedRecords.map { $0["t"] } == [coarse])
    let fetched = try await pad.fetch().get()
    #expect(fetched.changedRecords.map { $0["t"] } == [coarse])
    #expect(fetched.changedRecords.first?.contains(edit: response.savedRecords[0]) == true)
    #expect(world.transport.operations.filter { $0 == "records/modify" }.count == 1)
    session.stop()
  }

  @Test("What no service can hold fails its item before anything is sent")
  func unsendable() async throws {
    let result = await phone.modify([note("a", ["x": [[1]]]), note("b")], token: 1)
    #expect(result.itemCodes == ["a": .invalidArguments, "b": .batchRequestFailed])
    #expect(world.transport.requests.isEmpty)
  }

  @Test("The token is in a header, and in no address, description or error")
  func secrets() async throws {
    _ = try await phone.createZone().get()
    let token = ServiceWorld.token("phone")
    let request = try #require(world.transport.requests.last)
    #expect(request.headers["authorization"] == "Bearer \(token)")
    #expect(!request.target.contains(token))
    var dumped = ""
    dump(WebServicesAuthorization.bearer(Secret(token)), to: &dumped)
    #expect(!dumped.contains(token) && !"\(Secret(token))".contains(token))
    world.tokens.revoke(token: token)
    let error = await phone.fetch().error
    #expect(error?.code == .notAuthenticated && !"\(error as Any)".contains(token))
  }

  @Test(
    "74. Addresses with a user, a password, a query or without TLS are refused, unrepeated",
    arguments: [
      "https://x@host", "https://x:y@host", "https://host?ckAPIToken=secret", "http://example.org",
      "https://host/#a", "ftp://host", "host", "", "https://", "https://host/other",
      "https://host/database/1/a/b", "http://localhost.example.org", "https://host/a?token=x",
      "https://host/database/1/a/b\r\nX-Secret: c/private", "https://host\n",
      "https://host/database/1/a b/c/private",
    ]
  )
  func badAddresses(text: String) {
    do throws(WebServicesAddress.Problem) {
      _ = try WebServicesAddress(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(!error.description.contains("secret") && !error.description.contains("x@"))
    }
  }

  @Test(
    "Good addresses are taken",
    arguments: [
      "https://sync.example.org", "https://host:8443/", "http://localhost:8080",
      "http://127.0.0.1:1",
      "http://[::1]:8080", "https://api.apple-cloudkit.com/database/1/iCloud.a/development/private",
    ]
  )
  func goodAddresses(text: String) throws {
    let address = try WebServicesAddress(text)
    #expect(text.hasPrefix(address.origin))
  }

  @Test("The account is the one that the token belongs to")
  func account() async throws {
    func status(_ client: WebServicesClient) async -> (AccountStatus, AccountIdentity?) {
      await withCheckedContinuation { continuation in
        client.accountStatus.ask { continuation.resume(returning: ($0, $1)) }
      }
    }
    let alice = await status(try world.client("phone"))
    #expect(alice.0 == .available && alice.1 == ServiceWorld.alice)
    let bob = await status(try world.client("mac", ServiceWorld.bob))
    #expect(bob.1 == ServiceWorld.bob)
    world.tokens.revoke(token: ServiceWorld.token("phone"))
    let nobody = await status(
      WebServicesClient(
        address: try WebServicesAddress("https://host"),
        authorization: .bearer("wrong"),
        transport: world.transport
      )
    )
    #expect(nobody.0 == .noAccount && nobody.1 == nil)
  }
}
