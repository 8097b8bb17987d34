/// Why bytes are no message of the API.
package struct WireError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  /// How many bytes precede the place.
  package let offset: Int

  package init(_ reason: String, at offset: Int = 0) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String { "\(reason), at byte \(offset)" }
}
