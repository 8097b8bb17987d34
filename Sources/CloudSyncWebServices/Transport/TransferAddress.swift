/// An address that a service gives for the bytes of files, or for waiting: only those that are known to be the
/// service's own are used.
struct TransferAddress: Sendable, Hashable {
  /// Scheme, host and port.
  let origin: String
  /// Path and query.
  let target: String

  /// Domains that Apple's service gives addresses in.
  private static let appleDomains = [
    "icloud-content.com", "apple-cloudkit.com", "icloud.com", "push.apple.com",
  ]

  /// Takes an address.
  ///
  /// - Parameters:
  ///   - url: The address; one without a host is the service's.
  ///   - origin: The service's own origin.
  ///   - isApple: Whether the service is Apple's, which has hosts for files alone.
  init?(_ url: String, of origin: String, isApple: Bool) {
    // Apple's addresses have a place for the name under which a browser would save the file.
    let url = isApple ? url.replacing("${f}", with: "file") : url
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    if url.hasPrefix("\(origin)/") {
      self.origin = origin
      target = String(url.dropFirst(origin.count))
    } else if url.first == "/", !url.hasPrefix("//"), !isApple {
      self.origin = origin
      target = url
    } else {
      let scheme = "https://"
      guard isApple, url.hasPrefix(scheme) else { return nil }
      let rest = url.dropFirst(scheme.count)
      // Neither a user nor a port: a backslash, which some readers take for a slash, is no letter of a host either.
      let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let isKnown = Self.appleDomains.contains { host.lowercased().hasSuffix(".\($0)") }
      guard isKnown, host.utf8.allSatisfy(Self.isOfHost), host.first != ".", !host.contains("..")
      else { return nil }
      let path = rest.dropFirst(host.count).prefix { $0 != "#" }
      self.origin = "\(scheme)\(host)"
      target = path.first == "/" ? String(path) : "/\(path)"
    }
    // Part of it could be read as the begin of another host.
    guard !target.hasPrefix("//") else { return nil }
  }

  private static func isOfHost(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x2d || byte == 0x2e
  }
}
