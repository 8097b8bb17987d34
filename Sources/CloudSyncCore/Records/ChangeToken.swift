#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A position in a zone's feed of changes, as the cloud gave it.
///
/// The bytes mean something to the cloud only: tokens have no order, and a new one does not say
/// that anything changed. "From the beginning" is no token at all, never an empty one.
public struct ChangeToken: Hashable, Codable, Sendable, CodedValue {
  /// The bytes as the cloud gave them, at least one.
  public let bytes: Data

  /// Creates a token, or nothing if there are no bytes.
  public init?(_ bytes: Data) {
    guard !bytes.isEmpty else { return nil }
    self.bytes = bytes
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.write(writer.disclosed(bytes, as: .changeToken))
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    let bytes = try reader.readData()
    guard let token = ChangeToken(bytes) else { throw reader.failure("a change token is empty") }
    self = token
  }
}

extension ChangeToken {
  /// Some tokens as one text, for a store that keeps them so.
  package static func text(of tokens: [ChangeToken]) -> String {
    tokens.map { $0.bytes.base64EncodedString() }.joined(separator: ",")
  }

  /// The tokens of such a text; what is none is left out.
  package static func tokens(in text: String) -> [ChangeToken] {
    text.split(separator: ",")
      .compactMap { Data(base64Encoded: String($0)).flatMap(ChangeToken.init) }
  }
}
