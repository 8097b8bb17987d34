/// The name of a submitted operation: unique for the life of a state, also over restarts.
///
/// Operations of one epoch are numbered in the order of their submission, modifications and fetches
/// together.
public struct OperationID: Sendable, Comparable {
  /// The session's epoch when the operation was submitted.
  public let epoch: UInt64
  /// The number within the state, counting from 1; 0 before submission.
  public let number: UInt64

  /// Creates an identifier.
  public init(epoch: UInt64, number: UInt64) {
    self.epoch = epoch
    self.number = number
  }

  /// What an operation has before it is submitted.
  public static let unassigned = OperationID(epoch: 0, number: 0)

  /// Orders by submission.
  public static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.epoch, lhs.number) < (rhs.epoch, rhs.number)
  }
}

extension OperationID: EpochNumbered {}
