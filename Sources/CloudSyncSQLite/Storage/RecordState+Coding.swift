package import CloudSyncCore

extension ColumnTime: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    name = try coder.field("name") { $0.name }
    time = try coder.field("time") { $0.time }
    life = try coder.field("life") { $0.life }
  }
}

extension CounterShare: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    column = try coder.field("column") { $0.column }
    writer = try coder.field("writer") { $0.writer }
    time = try coder.field("time") { $0.time }
    sum = try coder.field("sum") { $0.sum }
  }
}

extension CounterSum: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { fieldValue.write(to: &writer) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    guard let sum = CounterSum(try FieldValue(from: &reader)) else {
      throw reader.failure("a counter's sum is no number")
    }
    self = sum
  }
}

extension SeenTime: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    column = try coder.field("column") { $0.column }
    writer = try coder.field("writer") { $0.writer }
    time = try coder.field("time") { $0.time }
  }
}

extension PurgeMark: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    writer = try coder.field("writer") { $0.writer }
    since = try coder.field("since") { $0.since }
  }
}

extension RowOrigin: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    name = try coder.field("name") { $0.name }
    created = try coder.field("created") { $0.created }
  }
}

extension RowLife: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    created = try coder.field("created") { $0.created }
    row = try coder.field("row") { $0.row }
  }
}

extension RowEnding: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    row = try coder.field("row") { $0.row }
    life = try coder.field("life") { $0.life }
    time = try coder.field("time") { $0.time }
  }
}

extension RowMove: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    row = try coder.field("row") { $0.row }
    isOfInserted = try coder.field("isOfInserted") { $0.isOfInserted }
    since = try coder.field("since") { $0.since }
    first = try coder.field("first") { $0.first }
    life = try coder.field("life") { $0.life }
    time = try coder.field("time") { $0.time }
    arrival = try coder.field("arrival") { $0.arrival }
    ended = try coder.field("ended") { $0.ended }
    name = try coder.field("name") { $0.name }
    isUnion = try coder.field("isUnion") { $0.isUnion }
    isFollowing = try coder.field("isFollowing") { $0.isFollowing }
  }
}

extension RecordClock: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    created = try coder.field("created") { $0.created }
    first = try coder.field("first") { $0.first }
    deleted = try coder.field("deleted") { $0.deleted }
    ended = try coder.field("ended") { $0.ended }
    row = try coder.field("row") { $0.row }
    endings = try coder.field("endings") { $0.endings }
    columns = try coder.field("columns") { $0.columns }
    shares = try coder.field("shares") { $0.shares }
    seen = try coder.field("seen") { $0.seen }
    purge = try coder.field("purge") { $0.purge }
    moves = try coder.field("moves") { $0.moves }
    let columns = columns
    try coder.check {
      let names = columns.map(\.name)
      let isSorted = names.indices.dropFirst()
        .allSatisfy { UTF8Bytes.order(names[$0 - 1], names[$0]) < 0 }
      return isSorted ? nil : "the columns of a row's clock are not in order"
    }
  }
}

extension VersionedColumn: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    let name = try coder.field("name") { $0.name }
    let value = try coder.field("value") { $0.value }
    let time = try coder.field("time") { $0.time }
    self.init(name: name, value: value, time: time, life: try coder.field("life") { $0.life })
  }
}

extension CloudRecord: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    tag = try coder.field("tag") { $0.tag }
    clock = try coder.field("clock") { $0.clock }
    values = try coder.field("values") { $0.values }
    differing = try coder.field("differing") { $0.differing }
    aside = try coder.field("aside") { $0.aside }
  }
}

extension Ancestor: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    column = try coder.field("column") { $0.column }
    writer = try coder.field("writer") { $0.writer }
    time = try coder.field("time") { $0.time }
  }
}

extension CloudRefusal: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    code = try coder.field("code") { $0.code }
    reason = try coder.field("reason") { $0.reason }
    count = try coder.field("count") { $0.count }
    next = try coder.field("next") { $0.next }
  }
}

extension Placement: CodedField {
  private static let names: [StaticString] = [
    "inTable", "awaitsParent", "violates", "deletionDeferred", "heldBy",
  ]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .inTable: $0.tag(0, of: Self.names)
      case .awaitsParent(let name):
        $0.tag(1, of: Self.names)
        $0.field("name", name)
      case .violates(let code, let reason):
        $0.tag(2, of: Self.names)
        $0.field("code", code)
        $0.field("reason", reason)
      case .deletionDeferred: $0.tag(3, of: Self.names)
      case .heldBy(let name, let reason):
        $0.tag(4, of: Self.names)
        $0.field("name", name)
        $0.field("reason", reason)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      try reader.key("kind")
      switch try reader.tag(of: Self.names) {
      case 0: return Placement.inTable
      case 1: return .awaitsParent(try reader.field("name"))
      case 2: return .violates(code: try reader.field("code"), reason: try reader.field("reason"))
      case 3: return .deletionDeferred
      default: return .heldBy(try reader.field("name"), reason: try reader.field("reason"))
      }
    }
  }
}

extension Hold: CodedField {
  private static let names: [StaticString] = ["nextFetch", "refusal", "removal"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .nextFetch(let missing):
        $0.tag(0, of: Self.names)
        $0.field("missing", missing)
      case .refusal(let refusal):
        $0.tag(1, of: Self.names)
        $0.field("refusal", refusal)
      case .removal(let isDue):
        $0.tag(2, of: Self.names)
        $0.field("isDue", isDue)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      try reader.key("kind")
      switch try reader.tag(of: Self.names) {
      case 0: return Hold.nextFetch(missing: try reader.field("missing"))
      case 1: return .refusal(try reader.field("refusal"))
      default: return .removal(isDue: try reader.field("isDue"))
      }
    }
  }
}
