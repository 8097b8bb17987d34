import CloudSyncSession
import CloudSyncSigning
import CloudSyncWebServices
import Crypto
import Foundation
import Synchronization
import Testing

@Suite("P256Signer")
struct P256SignerTests {
  /// Keeps requests, and answers none of them.
  private final class Recorder: HTTPTransport {
    let requests = Mutex<[HTTPRequest]>([])

    func send(
      _ request: HTTPRequest,
      to origin: String,
      deadline: Timestamp
    ) async throws(HTTPTransportError) -> HTTPResponse {
      requests.withLock { $0.append(request) }
      return HTTPResponse(status: 503)
    }
  }

  /// A key that is the same in every run.
  private static func key() throws -> P256.Signing.PrivateKey {
    try P256.Signing.PrivateKey(rawRepresentation: (1...32).map { UInt8($0) })
  }

  private static let zone = ZoneID(name: "_defaultZone", scope: .public)

  @Test(
    "54. The signature of a fixed key, date and body verifies over exactly the bytes that are sent"
  )
  func verifies() async throws {
    let key = try Self.key()
    let recorder = Recorder()
    let client = WebServicesClient(
      address: try WebServicesAddress(
        "https://api.apple-cloudkit.com/database/1/iCloud.org.example/production/public"
      ),
      authorization: .signed(try P256Signer(keyID: "key-1", pem: Secret(key.pemRepresentation))),
      transport: recorder,
      now: { Timestamp(nanoseconds: 1_795_577_206_900_000_000) }
    )
    let record = Record(
      recordType: "Feed",
      recordID: RecordID(name: "é \"1\"", zoneID: Self.zone),
      fields: ["title": "x"]
    )
    await #expect(throws: SyncError.self) {
      try await client.modify(ModifyOperation(records: [record]))
    }
    let request = try #require(recorder.requests.withLock { $0.first })
    #expect(request.headers["X-Apple-CloudKit-Request-KeyID"] == "key-1")
    let date = try #require(request.headers["X-Apple-CloudKit-Request-ISO8601Date"])
    #expect(date == "2026-11-25T03:26:46Z")
    let text = try #require(request.headers["X-Apple-CloudKit-Request-SignatureV1"])
    let der = try #require(Data(base64Encoded: text))
    let signature = try P256.Signing.ECDSASignature(derRepresentation: der)
    func isValid(_ date: String, _ body: [UInt8], _ path: String) -> Bool {
      let digest = Data(SHA256.hash(data: body)).base64EncodedString()
      return key.publicKey.isValidSignature(signature, for: Data("\(date):\(digest):\(path)".utf8))
    }
    #expect(isValid(date, request.body, request.target))
    #expect(!isValid(date, request.body + [0x20], request.target))
    #expect(!isValid("2026-11-25T03:26:47Z", request.body, request.target))
    #expect(!isValid(date, request.body, request.target + "/"))
  }

  @Test("What is no key of that curve is refused, and not repeated")
  func noKey() throws {
    let other = P384.Signing.PrivateKey().pemRepresentation
    for text in [
      "", "secret", other, "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----",
    ] {
      do throws(RequestSignerError) {
        _ = try P256Signer(keyID: "k", pem: Secret(text))
        Issue.record("it was taken")
      } catch { #expect(!error.description.contains("secret")) }
    }
  }
}
