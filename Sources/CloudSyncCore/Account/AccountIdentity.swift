/// An opaque name that tells one account from another.
///
/// It is compared, never read: the session notices that the user has changed, not who it is.
public struct AccountIdentity: Hashable, Codable, Sendable, CodedValue {
  /// The name that the account provider gave.
  public let value: String

  /// Creates an identity.
  public init(_ value: String) { self.value = value }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.write(writer.disclosed(value, as: .accountIdentity))
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self.init(try reader.readString())
  }
}
