public import CloudSyncCore

/// Whom a token of access belongs to.
public struct ServiceAccess: Sendable, Hashable {
  /// The account.
  public var account: AccountIdentity
  /// The device, unique within the account.
  public var device: String

  /// Creates an access.
  public init(account: AccountIdentity, device: String) {
    self.account = account
    self.device = device
  }
}

/// The tokens with which devices come to a ``CloudService``.
///
/// A token fixes account and device; neither is read from a request. It is looked for by its SHA-256
/// digest, so that nothing that is stored opens anything.
public protocol ServiceTokens: Sendable {
  /// Finds whom the token with a digest belongs to; nil if there is none, or it was revoked.
  ///
  /// - Throws: That nobody can say now, as `SyncError.Code.serviceUnavailable`: a device whose token is refused
  ///   would sign out.
  func access(digest: [UInt8]) throws(SyncError) -> ServiceAccess?
}

extension ServiceTokens {
  /// The digest by which a token is looked for.
  ///
  /// - Parameter token: The token, as a client sends it.
  /// - Returns: The SHA-256 digest of its bytes.
  public static func digest(of token: String) -> [UInt8] { SHA256.digest(of: Array(token.utf8)) }
}

/// Tokens in memory.
public final class MemoryTokens: ServiceTokens {
  /// By digest; looked into, never iterated.
  private let accesses = Locked<[[UInt8]: ServiceAccess]>([:])

  /// Creates an empty list.
  public init() {}

  /// Lets a device in.
  ///
  /// - Parameters:
  ///   - token: The token, which is not kept: 256 random bits, as text.
  ///   - access: Whom it belongs to.
  public func add(token: String, access: ServiceAccess) {
    accesses.withLock { $0[Self.digest(of: token)] = access }
  }

  /// Shuts a token out, from the next request on.
  public func revoke(token: String) {
    accesses.withLock { $0[Self.digest(of: token)] = nil }
  }

  /// Finds whom the token with a digest belongs to.
  public func access(digest: [UInt8]) -> ServiceAccess? { accesses.withLock { $0[digest] } }
}
