import CloudSyncCore
import CloudSyncService
import CloudSyncWebServices
import Foundation
import Testing

@Suite("Signed requests of Apple's service")
struct SignedRequestTests {
  /// Keeps what it is to sign; its signature is the digest of that.
  private final class RecordingSigner: RequestSigner {
    let keyID = "key-1"
    let messages = Locked<[String]>([])
    let isBroken = Locked(false)

    func signature(of message: [UInt8]) throws(RequestSignerError) -> [UInt8] {
      if isBroken.withLock({ $0 }) { throw RequestSignerError("the key is away") }
      messages.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
      return SHA256.digest(of: message)
    }
  }

  private static let zone = ZoneID(name: ZoneID.defaultZoneName, scope: .public)
  private let signer = RecordingSigner()
  private let sent = Locked<[HTTPRequest]>([])
  /// The clock of the service.
  private let serverTime = Locked(Timestamp(nanoseconds: 1_795_577_206_900_000_000))

  private static func record(_ name: String) -> Record {
    Record(
      recordType: "Feed",
      recordID: RecordID(name: name, zoneID: zone),
      fields: ["title": "é"]
    )
  }

  /// A client whose service looks at date and signature.
  private func client() throws -> WebServicesClient {
    let (sent, signer, serverTime) = (sent, signer, serverTime)
    let transport = InProcessTransport { request, _ in
      sent.withLock { $0.append(request) }
      let date = request.headers["X-Apple-CloudKit-Request-ISO8601Date"] ?? ""
      let body = Data(SHA256.digest(of: request.body)).base64EncodedString()
      let message = Array("\(date):\(body):\(request.target)".utf8)
      let signature = request.headers["X-Apple-CloudKit-Request-SignatureV1"] ?? ""
      let time = ISO8601DateFormatter().date(from: date)?.timeIntervalSince1970 ?? 0
      let now = Double(serverTime.withLock { $0.nanoseconds }) / 1e9
      guard request.headers["X-Apple-CloudKit-Request-KeyID"] == signer.keyID,
        Data(base64Encoded: signature) == Data(SHA256.digest(of: message)), abs(time - now) <= 600
      else {
        return HTTPResponse(
          status: 401,
          #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no"}"#
        )
      }
      return HTTPResponse(
        status: 200,
        #"{"records":[{"recordName":"a","recordType":"Feed","recordChangeTag":"t","fields":{}}]}"#
      )
    }
    return WebServicesClient(
      address: try WebServicesAddress(
        "https://api.apple-cloudkit.com/database/1/iCloud.a/production/public"
      ),
      authorization: .signed(signer),
      transport: transport,
      now: { Timestamp(nanoseconds: 1_795_577_206_900_000_000) }
    )
  }

  @Test(
    "54. What is signed is the date, the digest of exactly the bytes that are sent, and the path"
  )
  func message() async throws {
    let client = try client()
    let saved = try await client.modify(ModifyOperation(records: [Self.record("a")]))
    #expect(saved.savedRecords.map(\.changeTag) == ["t"])
    let request = try #require(sent.withLock { $0.first })
    let digest = Data(SHA256.digest(of: request.body)).base64EncodedString()
    let path = "/database/1/iCloud.a/production/public/records/modify"
    #expect(signer.messages.withLock { $0 } == ["2026-11-25T03:26:46Z:\(digest):\(path)"])
    #expect(request.target == path && request.headers["Authorization"] == nil)
    let found = try await client.lookUp([Self.record("a").recordID])
    #expect(found.changedRecords.map(\.recordID) == [Self.record("a").recordID])
  }

  @Test("54. A clock that is an hour off, and a key that does not sign, are no account")
  func refused() async throws {
    let client = try client()
    serverTime.withLock { $0 = $0.adding(.seconds(3_600)) }
    await #expect(throws: SyncError.self) { try await client.lookUp([Self.record("a").recordID]) }
    do throws(SyncError) { _ = try await client.lookUp([Self.record("a").recordID]) } catch {
      #expect(error.code == .notAuthenticated)
    }
    signer.isBroken.withLock { $0 = true }
    let count = sent.withLock { $0.count }
    do throws(SyncError) { _ = try await client.lookUp([Self.record("a").recordID]) } catch {
      #expect(error.code == .notAuthenticated && error.message == "the key is away")
    }
    #expect(sent.withLock { $0.count } == count)
  }

  @Test("A request is for the records of one zone, without files; an empty one is not sent")
  func limits() async throws {
    let client = try client()
    let other = RecordID(name: "b", zoneID: ServiceWorld.zoneID)
    await #expect(throws: SyncError.self) {
      try await client.lookUp([Self.record("a").recordID, other])
    }
    var record = Self.record("a")
    record["file"] = .asset(Asset(sha256: Data(count: 32), byteCount: 1, location: "/x"))
    let operation = ModifyOperation(records: [record])
    await #expect(throws: SyncError.self) { try await client.modify(operation) }
    #expect(try await client.lookUp([]).changedRecords.isEmpty)
    #expect(try await client.modify(ModifyOperation()).savedRecords.isEmpty)
    #expect(sent.withLock { $0.isEmpty })
  }
}
