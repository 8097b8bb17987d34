import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices

enum CloudSamples {
  static func serve(
    _ secret: String,
    _ request: HTTPRequest,
    _ address: String
  ) async throws -> HTTPResponse {
    // SAMPLE: CloudSyncService/CloudSyncService.md
    let store = try SQLiteStore(path: "/var/lib/cloudsync/cloud.sqlite")
    var options = LocalCloudOptions()
    options.seed = SyncEnvironment.live.nonce()
    options.quota = 1_000_000_000
    options.zoneLimit = 1_000
    options.schemaLimit = (types: 500, fields: 200)
    options.hasSchemaPerAccount = true
    let tokens = MemoryTokens()
    tokens.add(token: secret, access: ServiceAccess(account: AccountIdentity("ada"), device: "mac"))
    let service = CloudService(
      cloud: LocalCloud(store: store, options: options, assetFolder: "/var/lib/cloudsync/files"),
      tokens: tokens
    )
    let response = await service.respond(to: request, from: address)
    // SAMPLE: end
    return response
  }

  static func connect(_ token: String, _ folder: String) throws -> CloudSyncSession {
    // SAMPLE: CloudSyncWebServices/CloudSyncWebServices.md
    let client = WebServicesClient(
      address: try WebServicesAddress("https://sync.example.org"),
      authorization: .bearer(Secret(token)),
      transport: URLSessionTransport()
    )
    let handler = WebServicesOperationHandler(
      client: client,
      zoneID: ZoneID(name: "Notes"),
      assets: AssetCache(folder: folder + "/assets")
    )
    let session = CloudSyncSession(operationHandler: handler, zoneID: ZoneID(name: "Notes"))
    // SAMPLE: end
    return session
  }
}
