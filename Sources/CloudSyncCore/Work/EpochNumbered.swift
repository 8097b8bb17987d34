/// A name that counts within an epoch: what operations and attempts have in common.
package protocol EpochNumbered: CodedValue, CustomStringConvertible {
  /// The session's epoch when the name was given.
  var epoch: UInt64 { get }
  /// The number, counting over all epochs of a state.
  var number: UInt64 { get }

  init(epoch: UInt64, number: UInt64)
}

extension EpochNumbered {
  /// `epoch.number`.
  public var description: String { "\(epoch).\(number)" }

  /// Tells whether both are the same name.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.number == rhs.number && lhs.epoch == rhs.epoch
  }

  /// Hashes both numbers.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(epoch)
    hasher.combine(number)
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("epoch", epoch)
      $0.field("number", number)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let epoch: UInt64 = try reader.field("epoch")
    let number: UInt64 = try reader.field("number")
    try reader.endObject()
    self.init(epoch: epoch, number: number)
  }
}
