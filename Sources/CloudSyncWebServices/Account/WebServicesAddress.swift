/// Where a service is: `https://host`, or with the path of a database,
/// `https://host/database/1/CONTAINER/ENVIRONMENT/private`.
public struct WebServicesAddress: Sendable, Hashable {
  /// Why a text is no address, in words that do not repeat it: there may be a secret in it.
  public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and what to give.
    public let description: String
  }

  /// Scheme, host and port.
  public let origin: String
  let database: WireDatabase

  /// Reads an address.
  ///
  /// - Parameter text: The address.
  /// - Throws: What is wrong with it: a user name, a password or a query in it, a scheme other than
  ///   `https` (or `http` to this machine), or another path.
  public init(_ text: String) throws(Problem) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    let separator = "://"
    guard text.dropFirst(scheme.count).hasPrefix(separator) else {
      throw Problem(description: "an address begins with https://")
    }
    let rest = text.dropFirst(scheme.count + separator.count)
    let host = String(rest.prefix { $0 != "/" })
    let path = rest.dropFirst(host.count)
    guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else {
      throw Problem(
        description: "an address has a host, and neither a user, a password, a query nor a fragment"
      )
    }
    guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Problem(description: "an address has neither spaces nor control characters")
    }
    guard !path.contains("?"), !path.contains("#") else {
      throw Problem(description: "an address has no query: give a token by a file or a variable")
    }
    guard scheme == "https" || scheme == "http" && Self.isLoopback(host) else {
      throw Problem(description: "an address begins with https://, or http:// for this machine")
    }
    origin = "\(scheme)://\(host)"
    if path.isEmpty || path == "/" {
      database = WireDatabase(container: "cloudsync", environment: "production")
    } else if let (database, rest) = WireDatabase.parse("\(path)/"), rest.isEmpty || rest == "/" {
      self.database = database
    } else {
      throw Problem(
        description: "the path of a database is /database/1/CONTAINER/ENVIRONMENT/private"
      )
    }
  }

  /// Letters, digits and what names and addresses of hosts, and ports, have beside.
  private static func isOfHost(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
      || [0x2d, 0x2e, 0x3a, 0x5b, 0x5d].contains(byte)
  }

  private static func isLoopback(_ host: String) -> Bool {
    let name =
      host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) : String(host.prefix { $0 != ":" })
    return ["localhost", "127.0.0.1", "[::1"].contains(name)
  }
}
