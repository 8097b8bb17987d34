import CloudSyncCore
import CloudSyncSQLite
import CloudSyncWebServices
import Dispatch

/// The cloud of `cloudsync sync` behind an address: a server of CloudKit's HTTP API.
struct CloudServer: CloudPlace {
  let name: String
  let handler: any OperationHandler
  private let client: WebServicesClient
  private let received: String
  private let webTokenFile: String?

  /// How long nothing may be heard before that is said.
  private static let patience = DispatchTimeInterval.seconds(3)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - place: The address, and the token.
  ///   - name: The address as the user writes it.
  ///   - zoneID: The zone.
  ///   - folder: A folder for the files of assets that come, which the run removes.
  /// - Throws: That the file of a web token cannot be used.
  init(_ place: ServerPlace, named name: String, zoneID: ZoneID, receivingIn folder: String) throws
  {
    self.name = name
    received = folder
    webTokenFile = place.webTokenFile
    client = WebServicesClient(
      address: place.address,
      authorization: try Self.authorization(of: place),
      transport: URLSessionTransport(),
      // Apple's hosts for files must not share the connections of the API.
      transfers: place.webTokenFile == nil ? nil : URLSessionTransport()
    )
    handler = WebServicesOperationHandler(
      client: client,
      zoneID: zoneID,
      assets: AssetCache(folder: folder)
    )
  }

  private static func authorization(of place: ServerPlace) throws -> WebServicesAuthorization {
    guard let path = place.webTokenFile else { return .bearer(place.token) }
    do throws(WebTokenStoreError) {
      return .webToken(apiToken: place.token, store: try WebTokenFile(path: path))
    } catch { throw ToolError.usage("--web-token-file: \(error)") }
  }

  var account: AccountStatusProvider? { client.accountStatus }

  func assets(stagedIn folder: String) -> AssetOptions {
    var options = AssetOptions(folder: folder)
    // They may lie in another folder than those that leave.
    options.base = received
    return options
  }

  func zoneNames(console: Console) throws -> [String] {
    do throws(SyncError) {
      return try repeating(console: console) { [client] () -> Result<[ZoneID], SyncError> in
        waiting { () async throws(SyncError) in try await client.zoneIDs() }
      }
      .map(\.name)
    } catch { throw ToolError.failure("\(name): \(Words.line("\(error)"))") }
  }

  func relation(
    to place: SyncPlace?,
    isAttaching: Bool,
    of path: String,
    console: Console
  ) throws -> CloudRelation {
    let caller: AccountIdentity
    do throws(SyncError) { caller = try repeating(console: console) { identity() } } catch {
      throw error.code == .notAuthenticated
        ? refusal() : ToolError.failure("\(name): \(Words.line("\(error)"))")
    }
    if let owner = place?.owner, owner != caller {
      if isAttaching { return .other }
      throw ToolError.failure(
        "\(path): its rows belong to the account “\(owner.value)”, and the token is that of “\(caller.value)”; use a"
          + " token of “\(owner.value)”, or give the rows to “\(caller.value)” with “cloudsync attach \(path.argument) --cloud"
          + " \(name.argument) --merge”"
      )
    }
    do throws(SyncError) {
      _ = try repeating(console: console) {
        fetch(from: place)?.map { _ in true } ?? .success(true)
      }
    } catch { return CloudRelation(error) }
    return .same
  }

  /// The server's operator renews a restored store; its devices are told by the server.
  func renewHistory(after _: ChangeToken?) {}

  /// That the server does not let the user in, and what to do about it.
  private func refusal() -> ToolError {
    guard let webTokenFile else {
      return .failure("\(name): the server does not take the token; it may have been revoked")
    }
    guard let request = client.signInNeeded, let address = request.address else {
      return .failure("\(name): the service does not take the tokens; look at CLOUDSYNC_API_TOKEN")
    }
    return .failure(
      "\(name): sign in with a browser at \(address) and put the ckWebAuthToken that it gives, decoded, into"
        + " \(webTokenFile) (mode 0600)"
    )
  }

  private func identity() -> Result<AccountIdentity, SyncError> {
    waiting { [client] () async throws(SyncError) in try await client.callerIdentity() }
  }

  /// Makes a call, and waits for it.
  private func waiting<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(SyncError) -> Value
  ) -> Result<Value, SyncError> {
    do {
      return try CallingThread.run {
        do throws(SyncError) { return .success(try await call()) } catch { return .failure(error) }
      }
    } catch { return .failure(SyncError(.internalError, "there was no response")) }
  }

  /// Asks until there is a response, however long the server is away; the user may end it.
  private func repeating<Value>(
    console: Console,
    _ ask: () -> Result<Value, SyncError>
  ) throws(SyncError) -> Value {
    var patience = ServerPatience(name: name, console: console)
    while true {
      switch ask() {
      case .success(let value): return value
      case .failure(let error): guard patience.waits(after: error) else { throw error }
      }
    }
  }

  func changes(every interval: Duration) throws -> any CloudChanges { ServerChanges(client) }
}

/// Notices changes by the server's word.
private struct ServerChanges: CloudChanges {
  private let pushes: WebServicesPushes
  private let isDue = Locked(true)

  init(_ client: WebServicesClient) {
    pushes = WebServicesPushes(client: client) { [isDue] in isDue.withLock { $0 = true } }
    pushes.start()
  }

  var problem: String? { pushes.problem.map { Words.line("\($0)") } }

  func haveCome() -> Bool {
    isDue.withLock { isDue in
      defer { isDue = false }
      return isDue
    }
  }
}
