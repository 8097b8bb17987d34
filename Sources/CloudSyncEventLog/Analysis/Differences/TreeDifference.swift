import CloudSyncCore

/// Finds the places at which two coded trees differ.
///
/// Elements of an array that have a name of their own, such as operations and records, are compared
/// by it, so that one that was added shows as one change; others are compared by their places.
struct TreeDifference {
  private(set) var changes: [StateDifference.Change] = []
  /// How many changes are looked for.
  private let limit: Int

  init(_ before: CodedTree, _ after: CodedTree, limit: Int = .max) {
    self.limit = limit
    compare(before: before, after: after, at: "")
  }

  private mutating func add(at path: String, before: CodedTree?, after: CodedTree?) {
    guard changes.count < limit else { return }
    changes.append(
      StateDifference.Change(path: path, before: before?.summary, after: after?.summary)
    )
  }

  private mutating func compare(before: CodedTree, after: CodedTree, at path: String) {
    guard changes.count < limit else { return }
    switch (before, after) {
    case (.object(let old), .object(let new)):
      // A name of something stands for the whole of it.
      if before.name != nil || after.name != nil, before.isName, after.isName {
        if !before.isSame(as: after) { add(at: path, before: before, after: after) }
      } else {
        compare(fields: old, new: new, at: path)
      }
    case (.array(let old), .array(let new)): compare(elements: old, new: new, first: 0, at: path)
    default: if !before.isSame(as: after) { add(at: path, before: before, after: after) }
    }
  }

  private mutating func compare(
    fields old: [(key: String, value: CodedTree)],
    new: [(key: String, value: CodedTree)],
    at path: String
  ) {
    let prefix = path.isEmpty ? "" : path + "."
    // The queue of announcements says by a number what its first one is.
    let first = Self.firstNumber(fields: old)
      .flatMap { before in
        Self.firstNumber(fields: new).map { (before: before, after: $0) }
      }
    for (key, value) in old {
      guard let other = new.first(where: { $0.key == key })?.value else {
        add(at: prefix + key, before: value, after: nil)
        continue
      }
      if key == "queue", let first, case .array(let before) = value, case .array(let after) = other
      {
        compare(
          numbered: before,
          oldFirst: first.before,
          new: after,
          newFirst: first.after,
          at: prefix + key
        )
      } else {
        compare(before: value, after: other, at: prefix + key)
      }
    }
    for (key, value) in new where !old.contains(where: { $0.key == key }) {
      add(at: prefix + key, before: nil, after: value)
    }
  }

  private static func firstNumber(fields: [(key: String, value: CodedTree)]) -> Int64? {
    guard fields.count == 2, fields[0].key == "first", fields[1].key == "queue",
      case .int(let number) = fields[0].value
    else { return nil }
    return number
  }

  /// Compares elements that are numbered in order.
  private mutating func compare(
    numbered old: [CodedTree],
    oldFirst: Int64,
    new: [CodedTree],
    newFirst: Int64,
    at path: String
  ) {
    for (place, value) in old.enumerated() {
      let number = oldFirst + Int64(place)
      let other = Int(clamping: number - newFirst)
      if new.indices.contains(other) {
        compare(before: value, after: new[other], at: "\(path)[\(number)]")
      } else {
        add(at: "\(path)[\(number)]", before: value, after: nil)
      }
    }
    for (place, value) in new.enumerated() {
      let number = newFirst + Int64(place)
      guard !old.indices.contains(Int(clamping: number - oldFirst)) else { continue }
      add(at: "\(path)[\(number)]", before: nil, after: value)
    }
  }

  private mutating func compare(
    elements old: [CodedTree],
    new: [CodedTree],
    first: Int,
    at path: String
  ) {
    guard let oldNames = Self.names(elements: old), let newNames = Self.names(elements: new),
      !old.isEmpty || !new.isEmpty
    else { return compare(places: old, new: new, at: path) }
    var places: [String: Int] = [:]
    for (place, name) in newNames.enumerated() { places[name] = place }
    var common: [Int] = []
    for (place, name) in oldNames.enumerated() {
      if let other = places.removeValue(forKey: name) {
        common.append(other)
        compare(before: old[place], after: new[other], at: "\(path)[\(Phrase.readable(name))]")
      } else {
        add(at: "\(path)[\(Phrase.readable(name))]", before: old[place], after: nil)
      }
    }
    for (place, name) in newNames.enumerated() where places[name] != nil {
      add(at: "\(path)[\(Phrase.readable(name))]", before: nil, after: new[place])
    }
    guard zip(common, common.dropFirst()).contains(where: { $0 > $1 }) else { return }
    let order = { (names: [String]) in CodedTree.array(names.map(CodedTree.string)) }
    add(at: "\(path).order", before: order(oldNames), after: order(newNames))
  }

  /// Compares elements without names; those that are alike at both ends are left out.
  private mutating func compare(places old: [CodedTree], new: [CodedTree], at path: String) {
    var start = 0
    while start < old.count, start < new.count, old[start].isSame(as: new[start]) { start += 1 }
    var end = 0
    if old.count != new.count {
      let most = min(old.count, new.count) - start
      while end < most, old[old.count - 1 - end].isSame(as: new[new.count - 1 - end]) { end += 1 }
    }
    let (oldEnd, newEnd) = (old.count - end, new.count - end)
    for place in start..<max(start, oldEnd, newEnd) {
      let inner = "\(path)[\(place)]"
      if place < oldEnd, place < newEnd {
        compare(before: old[place], after: new[place], at: inner)
      } else if place < oldEnd {
        add(at: inner, before: old[place], after: nil)
      } else {
        add(at: inner, before: nil, after: new[place])
      }
    }
  }

  /// The names of all elements; nil if one has none, or two have the same.
  private static func names(elements: [CodedTree]) -> [String]? {
    var seen: Set<String> = []
    var names: [String] = []
    for element in elements {
      guard let name = element.name, seen.insert(name).inserted else { return nil }
      names.append(name)
    }
    return names
  }
}
