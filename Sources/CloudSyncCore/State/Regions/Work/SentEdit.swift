/// An edit that was sent, and of which nobody has said whether the cloud has it.
struct SentEdit: Sendable {
  var edit: Record
  /// Whether the response was lost; else the request failed, and most likely nothing of it was done.
  var isLost: Bool

  /// How many of one record are remembered.
  static let most = 4

  /// The ancestor of a later edit, if the cloud's record holds all that was sent: it was saved then.
  ///
  /// Where the request only failed, an equal edit of somebody else is as likely. That makes no difference to a field
  /// that the later edit takes back; to any other, what the two add may be two.
  func ancestor(of edit: Record, madeOf ancestor: Record) -> Record {
    let fields = self.edit.fields.filter { field in
      isLost || (edit[field.name] ?? .null) == (ancestor[field.name] ?? .null)
    }
    return ancestor.applying(self.edit.holding(fields))
  }
}

extension SentEdit: CodedStruct {
  init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    edit = try coder.field("edit") { $0.edit }
    isLost = try coder.field("isLost") { $0.isLost }
  }
}
