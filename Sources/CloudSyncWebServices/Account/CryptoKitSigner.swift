#if canImport(CryptoKit)
import CryptoKit
import Foundation

/// A server-to-server key in CryptoKit's hands.
public struct CryptoKitSigner: RequestSigner {
  /// The key's identifier, as the CloudKit console shows it.
  public let keyID: String
  private let key: P256.Signing.PrivateKey

  /// Reads a key.
  ///
  /// - Parameters:
  ///   - keyID: The key's identifier.
  ///   - pem: The private key as PEM, as `openssl ecparam -name prime256v1 -genkey -noout` writes it.
  /// - Throws: That the text is no such key.
  public init(keyID: String, pem: Secret) throws(RequestSignerError) {
    self.keyID = keyID
    do { key = try P256.Signing.PrivateKey(pemRepresentation: pem.reveal()) } catch {
      throw RequestSignerError("the text is no private key of the curve P-256")
    }
  }

  /// Signs a message.
  public func signature(of message: [UInt8]) throws(RequestSignerError) -> [UInt8] {
    do { return [UInt8](try key.signature(for: Data(message)).derRepresentation) } catch {
      throw RequestSignerError("the key does not sign")
    }
  }
}
#endif
