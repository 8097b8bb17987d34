package import CloudSyncCore

/// An operation of the API, by the end of its path.
package enum WireEndpoint: String, Sendable, CaseIterable {
  case modifyRecords = "records/modify"
  case lookUpRecords = "records/lookup"
  case zoneChanges = "changes/zone"
  case databaseChanges = "changes/database"
  case listZones = "zones/list"
  case lookUpZones = "zones/lookup"
  case modifyZones = "zones/modify"
  case modifySubscriptions = "subscriptions/modify"
  case caller = "users/caller"
  case uploadAssets = "assets/upload"
  case createToken = "tokens/create"

  /// The method of its requests.
  package var method: String {
    switch self {
    case .listZones, .caller: "GET"
    default: "POST"
    }
  }
}

/// Which database of which container requests are for: `/database/1/CONTAINER/ENVIRONMENT/private`.
package struct WireDatabase: Sendable, Hashable {
  package var container: String
  package var environment: String
  package var scope: DatabaseScope

  package init(container: String, environment: String, scope: DatabaseScope = .private) {
    self.container = container
    self.environment = environment
    self.scope = scope
  }

  private static let names: [(DatabaseScope, String)] = [
    (.private, "private"), (.shared, "shared"), (.public, "public"),
  ]

  /// The path of an endpoint.
  package func path(of endpoint: WireEndpoint) -> String {
    let name = Self.names.first { $0.0 == scope }?.1 ?? "private"
    // Pushes are those of a container, whatever the database.
    let place = endpoint == .createToken ? "" : "\(name)/"
    return "/database/1/\(container)/\(environment)/\(place)\(endpoint.rawValue)"
  }

  /// Reads the path of a request; nil if it is none of the API's.
  package static func parse(
    _ path: some StringProtocol
  ) -> (database: WireDatabase, rest: String)? {
    let parts = Self.parts(of: String(path), atMost: 6)
    guard parts.count == 6, parts[0].isEmpty, parts[1] == "database", parts[2] == "1" else {
      return nil
    }
    if parts[3].isEmpty || parts[4].isEmpty { return nil }
    if parts[5] == WireEndpoint.createToken.rawValue {
      return (WireDatabase(container: parts[3], environment: parts[4]), parts[5])
    }
    let tail = Self.parts(of: parts[5], atMost: 2)
    guard tail.count == 2, let scope = names.first(where: { $0.1 == tail[0] })?.0 else {
      return nil
    }
    let database = WireDatabase(container: parts[3], environment: parts[4], scope: scope)
    return (database, tail[1])
  }

  private static func parts(of text: String, atMost count: Int) -> [String] {
    let slash: Character = "/"
    return text.split(separator: slash, maxSplits: count - 1, omittingEmptySubsequences: false)
      .map { String($0) }
  }
}

/// The headers that the API does not have.
package enum WireHeader {
  /// The key by which the server recognizes a repeat of a modification.
  package static let writeToken = "X-CloudSync-Write-Token"
  /// How far the history had come when the cloud answered: one token in a response, and those of a device in its
  /// requests, joined by commas.
  package static let history = "X-CloudSync-History"
  package static let contentType = "Content-Type"
  package static let json = "application/json"

  /// Reads a write token; nil if the text is none.
  package static func writeToken(_ text: String) -> WriteToken? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let nonce = UInt64(parts[0], radix: 16),
      let number = UInt64(parts[1], radix: 16)
    else { return nil }
    return WriteToken(nonce: nonce, number: number)
  }
}
