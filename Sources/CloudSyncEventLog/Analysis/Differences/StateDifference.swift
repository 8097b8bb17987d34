public import CloudSyncCore

/// What differs between two states, path by path.
///
/// ```swift
/// for change in StateDifference(try log.state(at: 99), try log.state(at: 100)).changes {
///   print(change)
/// }
/// ```
public struct StateDifference: Sendable, Hashable, Codable {
  /// One place at which two states differ.
  public struct Change: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The names of the fields that lead there, and the names or numbers of elements, as in
    /// `modify.queue[1.7].records[note-3]`.
    public var path: String
    /// What the first state has there, in a few words; nil if it has nothing.
    public var before: String?
    /// What the second state has there, in a few words; nil if it has nothing.
    public var after: String?

    /// The path and both values in one line.
    public var description: String { "\(path): \(before ?? "nothing") → \(after ?? "nothing")" }
  }

  /// The differences, in the order of the states' coded form.
  public let changes: [Change]

  /// Compares two states.
  ///
  /// Elements with a name of their own (operations, records, announcements) are compared by it: one
  /// that was queued shows as one change.
  ///
  /// - Parameters:
  ///   - before: The first state.
  ///   - after: The second state.
  ///   - isRedacted: Whether values are hidden in one of them, so that only what is left is compared.
  ///   - limit: How many differences are looked for at most.
  /// - Complexity: O(*n*) in the size of the states.
  public init(
    _ before: SyncState,
    _ after: SyncState,
    isRedacted: Bool = false,
    limit: Int = .max
  ) {
    changes =
      TreeDifference(
        CodedTree.of(before, isSkeleton: isRedacted),
        CodedTree.of(after, isSkeleton: isRedacted),
        limit: limit
      )
      .changes
  }

  /// The first path at which two states differ; nil if they do not.
  public static func firstPath(
    _ before: SyncState,
    _ after: SyncState,
    isRedacted: Bool = false
  ) -> String? {
    first(before: before, after: after, isRedacted: isRedacted)?.path
  }

  /// The first place at which two states differ; nil if they do not.
  ///
  /// If values are hidden in one of the states only what is left is compared.
  static func first(before: SyncState, after: SyncState, isRedacted: Bool) -> Change? {
    if isRedacted ? LogDigest.of(before) == LogDigest.of(after) : before == after { return nil }
    return StateDifference(before, after, isRedacted: isRedacted, limit: 1).changes.first
  }

  /// One line for each change.
  public func render() -> String {
    changes.isEmpty ? "no difference" : changes.map(\.description).joined(separator: "\n")
  }
}
