import CloudSyncCore

/// What differs between two states, path by path.
public struct StateDifference: Sendable {
  /// One place at which two states differ.
  public struct Change: Sendable, Hashable, CustomStringConvertible {
    /// The names of the fields that lead there, and the numbers of elements, as in `modify.queue[2].id`.
    public var path: String
    /// What the first state has there; nil if it has nothing.
    public var before: String?
    /// What the second state has there; nil if it has nothing.
    public var after: String?

    /// The path and both values in one line.
    public var description: String { "\(path): \(before ?? "nothing") → \(after ?? "nothing")" }
  }

  /// The differences, in the order of the states' coded form.
  public let changes: [Change]

  /// The first place at which two states differ; nil if they do not.
  ///
  /// If values are hidden in one of the states only what is left is compared.
  static func first(_ before: SyncState, _ after: SyncState, isRedacted: Bool) -> Change? {
    if isRedacted ? LogDigest.of(before) == LogDigest.of(after) : before == after { return nil }
    return first(
      CodedTree.of(before, isSkeleton: isRedacted),
      CodedTree.of(after, isSkeleton: isRedacted),
      at: ""
    )
  }

  private static func first(_ before: CodedTree, _ after: CodedTree, at path: String) -> Change? {
    switch (before, after) {
    case (.object(let old), .object(let new)):
      for (key, value) in old {
        let other = new.first { $0.key == key }?.value
        let inner = path.isEmpty ? key : "\(path).\(key)"
        guard let other else { return Change(path: inner, before: text(value), after: nil) }
        if let change = first(value, other, at: inner) { return change }
      }
      let added = new.first { field in !old.contains { $0.key == field.key } }
      return added.map {
        Change(
          path: path.isEmpty ? $0.key : "\(path).\($0.key)",
          before: nil,
          after: text($0.value)
        )
      }
    case (.array(let old), .array(let new)):
      for place in 0..<max(old.count, new.count) {
        let inner = "\(path)[\(place)]"
        if place >= old.count { return Change(path: inner, before: nil, after: text(new[place])) }
        if place >= new.count { return Change(path: inner, before: text(old[place]), after: nil) }
        if let change = first(old[place], new[place], at: inner) { return change }
      }
      return nil
    default:
      let (old, new) = (text(before), text(after))
      return old == new ? nil : Change(path: path, before: old, after: new)
    }
  }

  /// A value in a few words.
  private static func text(_ tree: CodedTree) -> String {
    switch tree {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .string(let value): value.utf8.count > 80 ? "“\(value.prefix(80))…”" : "“\(value)”"
    case .array(let values): "\(values.count) elements"
    case .object(let fields):
      "{" + fields.prefix(4).map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
        + (fields.count > 4 ? ", …}" : "}")
    }
  }
}
