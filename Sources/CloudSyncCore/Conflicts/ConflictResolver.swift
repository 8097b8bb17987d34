/// A function that decides what becomes of an edit that the cloud refused.
///
/// It sees the refused edit (only the fields that the app set), the whole record as the cloud has
/// it, and the whole record that the edit was made from, where that is known. It must not wait, and
/// should depend on nothing else: its decision is recorded and replayed.
///
/// ```swift
/// let resolver = ConflictResolver { client, server in
///   var merged = server
///   merged["title"] = client["title"] ?? server["title"]
///   return merged
/// }
/// let byField = ConflictResolver.fieldwise(["likes": .counterSum, "tags": .setUnion])
/// ```
///
/// A record to be saved is reduced to the fields that differ from the cloud's, and gets the cloud's
/// change tag. A record with another identity than the client's halts the session.
public struct ConflictResolver: Sendable {
  private let decide: @Sendable (Conflict) -> ConflictResolution

  /// Wraps a function whose results are reduced already.
  private init(reduced decide: @escaping @Sendable (Conflict) -> ConflictResolution) {
    self.decide = decide
  }

  /// Creates a resolver from a function of the whole conflict.
  public init(_ resolve: @escaping @Sendable (Conflict) -> ConflictResolution) {
    decide = { conflict in Self.reduce(resolution: resolve(conflict), of: conflict) }
  }

  /// Creates a resolver from a function of client, server and ancestor; nil halts the session.
  public init(
    _ resolve:
      @escaping @Sendable (
        _ client: Record, _ server: Record, _ ancestor: Record?
      ) -> ConflictResolution?
  ) {
    decide = { conflict in
      let resolution = resolve(conflict.client, conflict.server, conflict.ancestor)
      return Self.reduce(resolution: resolution ?? .halt, of: conflict)
    }
  }

  /// Creates a resolver from a function of client and server that returns the record to save.
  ///
  /// Nil halts the session.
  public init(
    _ resolve: @escaping @Sendable (_ client: Record, _ server: Record) -> Record?
  ) {
    decide = { conflict in
      guard let record = resolve(conflict.client, conflict.server) else { return .halt }
      return Self.reduce(resolution: .save(record), of: conflict)
    }
  }

  /// Decides about a conflict.
  ///
  /// - Returns: The decision; a record to be saved carries only the fields to be sent, and the
  ///   change tag of the cloud's present version.
  public func resolve(_ conflict: Conflict) -> ConflictResolution { decide(conflict) }

  /// The resolver with the timestamps of what it has saved rounded, as those of other edits are.
  func roundingTimestamps(to unit: Int64) -> ConflictResolver {
    guard unit > 1 else { return self }
    return ConflictResolver(reduced: { [decide] conflict in
      let resolution = decide(conflict)
      guard case .save(let record) = resolution else { return resolution }
      return Self.reduce(
        resolution: .save(record.roundingTimestamps(to: unit)),
        of: conflict
      )
    })
  }

  private static func reduce(
    resolution: ConflictResolution,
    of conflict: Conflict
  ) -> ConflictResolution {
    guard case .save(let record) = resolution else { return resolution }
    guard record.recordID == conflict.client.recordID else { return .halt }
    let fields = record.difference(from: conflict.server).fields
    return .save(conflict.edit(record, setting: fields))
  }
}

extension ConflictResolver {
  /// The client's fields stand over the server's.
  public static let client = ConflictResolver(reduced: { .save($0.clientWins) })

  /// The server's record stays as it is, and the edit is dropped.
  public static let server = ConflictResolver(reduced: { .save($0.serverWins) })

  /// The side that was changed last wins as a whole.
  ///
  /// The client's ``Record/modificationDate``, as the app set it, is compared with the server's. In
  /// a tie, and where either is missing, the server's record stays: apps that use this resolver
  /// must date their edits.
  public static let newest = ConflictResolver(reduced: { conflict in
    .save(conflict.clientIsNewer ? conflict.clientWins : conflict.serverWins)
  })

  /// Merges field by field, with a policy for the fields that both sides changed.
  ///
  /// A field of the edit that the server has not changed since the ancestor takes the client's
  /// value; one that the client set to the ancestor's own value keeps the server's. What both
  /// changed, differently, goes to its policy. Without an ancestor every field that differs has
  /// been changed by both. Fields that the edit does not set stay as the server has them.
  ///
  /// - Parameters:
  ///   - policies: Policies by the name of the field.
  ///   - default: The policy of all other fields.
  /// - Returns: The resolver.
  public static func fieldwise(
    _ policies: [String: FieldPolicy] = [:],
    default: FieldPolicy = .newest
  ) -> ConflictResolver {
    let merge = FieldwiseMerge(policies: policies, default: `default`)
    return ConflictResolver(reduced: { .save(merge.merge($0)) })
  }
}
