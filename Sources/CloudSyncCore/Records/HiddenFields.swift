/// Fields of a record whose values are all hidden, in a form that is short.
///
/// A log has every record several times, as it is queued, saved and fetched. Names are written once
/// for records in a row, with those that a record lacks, and of every value one letter for its kind,
/// its size where the kind does not tell it, and its digest where it is not that of the value before.
struct HiddenFields: CodedValue {
  /// The names of the fields of several records, sorted.
  private struct Names: CodedValue {
    var names: [String]

    /// More are not gathered: they would be written for nothing.
    private static let limit = 256

    static func == (lhs: Self, rhs: Self) -> Bool { UTF8Bytes.equal(lhs.names, rhs.names) }

    /// These names and those of another record.
    func joined(with others: [String]) -> Names {
      if UTF8Bytes.equal(names, others) { return self }
      var all: [String] = []
      var rest = others[...]
      for name in names {
        while let other = rest.first, UTF8Bytes.order(other, name) < 0 {
          all.append(rest.removeFirst())
        }
        if let other = rest.first, UTF8Bytes.equal(other, name) { rest.removeFirst() }
        all.append(name)
      }
      return all.count + rest.count > Self.limit ? Names(others) : Names(all + rest)
    }

    /// The places of names that a record does not have.
    func places(without others: [String]) -> [Int] {
      if names.count == others.count { return [] }
      var next = 0
      return names.indices.filter { place in
        guard next < others.count, UTF8Bytes.equal(names[place], others[next]) else { return true }
        next += 1
        return false
      }
    }

    func write<W: CodedWriter>(to writer: inout W) { names.write(to: &writer) }

    init(_ names: [String]) { self.names = names }

    init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      names = try [String](from: &reader)
    }
  }

  /// The fields, each with a redaction or nothing as its value.
  let fields: [RecordField]

  /// How long each digest is.
  static let digestLength = 12

  /// A letter for each kind that can be hidden, in the order of ``FieldValue/kindNames``.
  fileprivate static let letters = Array("nsidtbralm".utf8)
  /// The size of those that have only one.
  fileprivate static let sizes: [Int?] = [0, nil, 8, 8, 8, nil, nil, nil, nil, nil]

  private static func place(of kind: String) -> Int? {
    letters.indices.first { UTF8Bytes.equal(FieldValue.kindNames[$0], kind) }
  }

  /// Takes fields as they are disclosed; nil if one of them is to be read as it is.
  init?(_ fields: [RecordField], disclosed: (FieldValue, String) -> FieldValue) {
    var hidden: [RecordField] = []
    hidden.reserveCapacity(fields.count)
    var hasDigests: Bool?
    for field in fields {
      let value = disclosed(field.value, field.name)
      if let redaction = value.redactedValue {
        let length = redaction.digest.utf8.count
        guard Self.isShort(redaction), length == 0 || length == Self.digestLength,
          hasDigests ?? (length > 0) == (length > 0)
        else { return nil }
        hasDigests = length > 0
      } else if case .null = value {
        // What removes a field is no value.
      } else {
        return nil
      }
      hidden.append(RecordField(name: field.name, value: value))
    }
    guard hasDigests != nil else { return nil }
    self.fields = hidden
  }

  private static func isShort(_ redaction: Redaction) -> Bool {
    guard let place = place(of: redaction.kind), place > 0 else { return false }
    return sizes[place] ?? redaction.byteCount == redaction.byteCount
  }

  func write<W: CodedWriter>(to writer: inout W) {
    var letters: [UInt8] = []
    letters.reserveCapacity(fields.count)
    var sizes: [Int] = []
    var digests: [UInt8] = []
    digests.reserveCapacity(fields.count * Self.digestLength)
    var last = ""
    for field in fields {
      guard let redaction = field.value.redactedValue, let place = Self.place(of: redaction.kind)
      else {
        letters.append(Self.letters[0])
        continue
      }
      letters.append(Self.letters[place])
      if Self.sizes[place] == nil { sizes.append(redaction.byteCount) }
      // Many fields of a record have the same value: times above all.
      let digest = redaction.digest
      if !digest.isEmpty, UTF8Bytes.equal(digest, last) {
        digests.append(UInt8(ascii: "="))
      } else {
        UTF8Bytes.with(digest) { digests.append(contentsOf: $0) }
      }
      last = digest
    }
    let own = fields.map(\.name)
    let known: Names? = writer.lastShared("names")
    let names = known?.joined(with: own) ?? Names(own)
    let without = names.places(without: own)
    writer.object {
      $0.sharedField("names", names)
      $0.field("without", without.isEmpty ? nil : without)
      $0.field("kinds", String(decoding: letters, as: UTF8.self))
      $0.field("sizes", sizes)
      $0.field("digests", String(decoding: digests, as: UTF8.self))
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let all: Names = try reader.sharedField("names")
    let without = try reader.optional("without") { (reader) throws(CodedError) in
      try reader.array { (reader) throws(CodedError) in try reader.readAmount() }
    }
    let names = Self.names(of: all, without: without ?? [])
    let letters: String = try reader.field("kinds")
    try reader.key("sizes")
    let sizes = try reader.array { (reader) throws(CodedError) in try reader.readAmount() }
    let digests: String = try reader.field("digests")
    guard letters.utf8.count == names.count else {
      throw reader.failure("there are more names than kinds, or fewer")
    }
    var values = Values(sizes: sizes[...], digests: Substring(digests).utf8)
    var fields: [RecordField] = []
    fields.reserveCapacity(names.count)
    for (name, letter) in zip(names, letters.utf8) {
      guard let value = values.next(letter) else {
        throw reader.failure("a kind is unknown, or a size or digest is missing")
      }
      fields.append(RecordField(name: name, value: value))
    }
    guard values.isAtEnd else {
      throw reader.failure("there are more sizes or digests than values")
    }
    try reader.endObject()
    self.fields = fields
  }

  private static func names(of all: Names, without places: [Int]) -> [String] {
    if places.isEmpty { return all.names }
    var next = 0
    return all.names.indices.compactMap { place in
      while next < places.count, places[next] < place { next += 1 }
      return next < places.count && places[next] == place ? nil : all.names[place]
    }
  }

  /// The values that are still to be read.
  private struct Values {
    var sizes: ArraySlice<Int>
    var digests: Substring.UTF8View
    let hasDigests: Bool
    var last = ""

    init(sizes: ArraySlice<Int>, digests: Substring.UTF8View) {
      self.sizes = sizes
      self.digests = digests
      hasDigests = !digests.isEmpty
    }

    var isAtEnd: Bool { sizes.isEmpty && digests.isEmpty }

    mutating func next(_ letter: UInt8) -> FieldValue? {
      guard let place = letters.firstIndex(of: letter) else { return nil }
      if place == 0 { return .null }
      guard let size = HiddenFields.sizes[place] ?? sizes.popFirst(), size >= 0,
        !hasDigests || readDigest()
      else { return nil }
      return .redacted(Redaction(kind: FieldValue.kindNames[place], byteCount: size, digest: last))
    }

    private mutating func readDigest() -> Bool {
      if digests.first == UInt8(ascii: "=") {
        digests.removeFirst()
        return !last.isEmpty
      }
      let part = digests.prefix(digestLength)
      guard part.count == digestLength, let text = String(part) else { return false }
      digests = digests.dropFirst(digestLength)
      last = text
      return true
    }
  }
}
