/// A link from one record to another.
public struct Reference: Hashable, Codable, Sendable, CodedValue {
  /// What happens to the record that holds the reference when its target is deleted.
  public enum Action: Hashable, Codable, Sendable, CaseIterable, CodedValue {
    /// Nothing: the reference dangles.
    case none
    /// The holder is deleted too. At most 750 such references may lead to one target.
    case deleteSelf

    private static let names: [StaticString] = ["none", "deleteSelf"]

    private var index: Int { self == .none ? 0 : 1 }

    /// Tells whether two actions are the same.
    public static func == (lhs: Action, rhs: Action) -> Bool {
      switch (lhs, rhs) {
      case (.none, .none), (.deleteSelf, .deleteSelf): true
      default: false
      }
    }

    /// Hashes the action.
    public func hash(into hasher: inout Hasher) { hasher.combine(index) }

    package func write<W: CodedWriter>(to writer: inout W) { writer.tag(index, of: Self.names) }

    package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      self = Self.allCases[try reader.tag(of: Self.names)]
    }
  }

  /// The record that is referred to.
  public var recordID: RecordID
  /// What happens when that record is deleted.
  public var action: Action

  /// Creates a reference.
  public init(recordID: RecordID, action: Action = .none) {
    self.recordID = recordID
    self.action = action
  }

  /// Tells whether two references have the same target and action.
  public static func == (lhs: Reference, rhs: Reference) -> Bool {
    lhs.action == rhs.action && lhs.recordID == rhs.recordID
  }

  /// Hashes the target and the action.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(recordID)
    hasher.combine(action)
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("recordID", recordID)
      $0.field("action", action)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      Reference(recordID: try reader.field("recordID"), action: try reader.field("action"))
    }
  }
}
