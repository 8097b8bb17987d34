extension SyncRequest: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("mode", mode)
      $0.field("isLookup", isLookup)
      $0.field("limits", limits)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    mode = try reader.field("mode")
    isLookup = try reader.field("isLookup")
    limits = try reader.field("limits")
    try reader.endObject()
  }
}

extension Retry: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("error", error)
      $0.field("wait", wait)
      $0.field("isLost", isLost)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    error = try reader.field("error")
    wait = try reader.field("wait")
    isLost = try reader.field("isLost")
    try reader.endObject()
  }
}

extension Split: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("error", error)
      $0.field("isTooLarge", isTooLarge)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    error = try reader.field("error")
    isTooLarge = try reader.field("isTooLarge")
    try reader.endObject()
  }
}
