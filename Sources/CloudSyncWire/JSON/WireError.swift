/// Why bytes are no message of the API.
package struct WireError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  /// How many bytes precede the place.
  package let offset: Int
  /// Whether the message is a good one, and only asks for more than one request may.
  package let isTooMuch: Bool

  package init(_ reason: String, at offset: Int = 0, isTooMuch: Bool = false) {
    self.reason = reason
    self.offset = offset
    self.isTooMuch = isTooMuch
  }

  package var description: String { "\(reason), at byte \(offset)" }
}
