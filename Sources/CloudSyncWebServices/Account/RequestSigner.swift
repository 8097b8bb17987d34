import CloudSyncCore
import CloudSyncWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signs requests with a server-to-server key of a CloudKit container.
///
/// A service of Apple's lets such a key into the public database only, in the name of the developer.
public protocol RequestSigner: Sendable {
  /// The key's identifier, as the CloudKit console shows it.
  var keyID: String { get }

  /// Signs a message by ECDSA with P-256 and SHA-256.
  ///
  /// - Parameter message: The bytes to sign, not their digest.
  /// - Returns: The signature in its DER form.
  /// - Throws: Why there is none.
  func signature(of message: [UInt8]) throws(RequestSignerError) -> [UInt8]
}

/// Why a request could not be signed.
public struct RequestSignerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong, without anything secret.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}

extension RequestSigner {
  /// Signs a request: its date, the digest of its body and its path.
  func sign(_ request: inout HTTPRequest, now: Timestamp) throws(RequestSignerError) {
    let date = WireDate.text(now)
    let digest = Data(SHA256.digest(of: request.body)).base64EncodedString()
    let message = "\(date):\(digest):\(request.path)"
    let signature = try signature(of: Array(message.utf8))
    request.headers["X-Apple-CloudKit-Request-KeyID"] = keyID
    request.headers["X-Apple-CloudKit-Request-ISO8601Date"] = date
    request.headers["X-Apple-CloudKit-Request-SignatureV1"] = Data(signature).base64EncodedString()
  }
}
