import CloudSyncSession
import CloudSyncWebServices

enum AppleServiceSamples {
  static func connect(_ apiToken: String, _ folder: String) throws -> CloudSyncSession {
    // SAMPLE: CloudSyncWebServices/AppleService.md
    let client = WebServicesClient(
      address: try WebServicesAddress(
        "https://api.apple-cloudkit.com/database/1/iCloud.org.example.Notes/development/private"
      ),
      authorization: .webToken(
        apiToken: Secret(apiToken),
        store: try WebTokenFile(path: folder + "/web-token")
      ),
      transport: URLSessionTransport(),
      transfers: URLSessionTransport()
    )
    let handler = WebServicesOperationHandler(
      client: client,
      zoneID: ZoneID(name: "Notes"),
      assets: AssetCache(folder: folder + "/assets"),
      encryptedFields: ["Note": ["text"]]
    )
    let session = CloudSyncSession(operationHandler: handler, zoneID: ZoneID(name: "Notes"))
    session.appendMiddleware(AccountStatusMiddleware(provider: client.accountStatus))
    client.follow(session)
    // SAMPLE: end
    return session
  }
}

#if canImport(CryptoKit)
extension AppleServiceSamples {
  static func lookUp(_ keyID: String, _ pem: String) async throws {
    // SAMPLE: CloudSyncWebServices/AppleService.md
    let signer = try CryptoKitSigner(keyID: keyID, pem: Secret(pem))  // P256Signer on Linux
    let client = WebServicesClient(
      address: try WebServicesAddress(
        "https://api.apple-cloudkit.com/database/1/iCloud.org.example.Notes/production/public"
      ),
      authorization: .signed(signer),
      transport: URLSessionTransport()
    )
    let zone = ZoneID(name: "_defaultZone", scope: .public)
    let page = try await client.lookUp([RecordID(name: "start", zoneID: zone)])
    // SAMPLE: end
    print(page)
  }
}
#endif
