extension SyncRequest: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    mode = try coder.field("mode") { $0.mode }
    isLookup = try coder.field("isLookup") { $0.isLookup }
    limits = try coder.field("limits") { $0.limits }
  }
}

extension Retry: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    error = try coder.field("error") { $0.error }
    wait = try coder.field("wait") { $0.wait }
    isLost = try coder.field("isLost") { $0.isLost }
  }
}

extension Split: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    error = try coder.field("error") { $0.error }
    isTooLarge = try coder.field("isTooLarge") { $0.isTooLarge }
  }
}
