import CloudSyncCore

/// How the names of a clock's columns are coded.
///
/// First comes a count of numbers, and, unless all of them are there, a bit for each; then, if there are any,
/// the columns that have no number, by name. Whatever is told of columns after that is told in the order of
/// the names' bytes, so it means the same with numbers and without.
enum ClockColumns {
  /// Writes names, which are sorted by their bytes; returns what the clock's flags have to say of them.
  static func write(
    _ names: [String],
    numbers: ColumnNumbers?,
    to writer: inout ClockWriter
  ) -> ClockFlags {
    var flags = ClockFlags()
    var named: [String] = []
    var found: [Int] = []
    for name in names {
      if let number = numbers?.number(of: name) { found.append(number) } else { named.append(name) }
    }
    let count = found.max().map { $0 + 1 } ?? 0
    writer.write(count: count)
    if count != found.count {
      flags.insert(.someNumbers)
      var isThere = Array(repeating: false, count: count)
      for number in found { isThere[number] = true }
      writer.write(bitmap: isThere)
    }
    if !named.isEmpty {
      flags.insert(.names)
      writer.write(count: named.count)
      for name in named { writer.write(text: name) }
    }
    return flags
  }

  /// Reads names; they are sorted by their bytes, each is there once.
  static func read(
    from reader: inout ClockReader,
    flags: ClockFlags,
    numbers: ColumnNumbers?
  ) throws(CodedError) -> [String] {
    let numbered = try readNumbers(from: &reader, flags: flags, numbers: numbers)
    guard flags.contains(.names) else { return numbered }
    var named: [String] = []
    for _ in 0..<(try reader.count()) {
      let name = try reader.text()
      if let last = named.last, UTF8Bytes.order(last, name) >= 0 {
        throw reader.failure("columns are not in order")
      }
      named.append(name)
    }
    return numbered.isEmpty ? named : try merge(numbered, with: named, reader: reader)
  }

  private static func readNumbers(
    from reader: inout ClockReader,
    flags: ClockFlags,
    numbers: ColumnNumbers?
  ) throws(CodedError) -> [String] {
    let count = try reader.unsigned()
    guard count <= UInt64(numbers?.names.count ?? 0) else {
      throw reader.failure("a column has a number that is not known")
    }
    guard flags.contains(.someNumbers) else {
      return numbers?.sorted.filter { $0.number < count }.map(\.name) ?? []
    }
    let bits = try reader.bitmap(of: Int(count))
    return numbers?.sorted.filter { $0.number < count && bits.hasBit($0.number) }.map(\.name) ?? []
  }

  private static func merge(
    _ numbered: [String],
    with named: [String],
    reader: ClockReader
  ) throws(CodedError) -> [String] {
    var names: [String] = []
    names.reserveCapacity(numbered.count + named.count)
    var (left, right) = (0, 0)
    while left < numbered.count || right < named.count {
      let order =
        left == numbered.count
        ? 1 : right == named.count ? -1 : UTF8Bytes.order(numbered[left], named[right])
      if order == 0 { throw reader.failure("a column is there twice") }
      names.append(order < 0 ? numbered[left] : named[right])
      if order < 0 { left += 1 } else { right += 1 }
    }
    return names
  }
}
