/// How a field is merged that client and server have both changed.
///
/// A policy that does not fit the kinds of the values falls back to ``newest``.
public enum FieldPolicy: Sendable {
  /// The value of the side whose record was changed last; the server's where that is not known.
  case newest
  /// The client's value.
  case client
  /// The server's value.
  case server
  /// The larger of two numbers of one kind, the later of two timestamps.
  ///
  /// A value stands over a missing one, and a number over a NaN.
  case maximum
  /// The server's number plus what the client added to the ancestor's.
  ///
  /// Two equal additions are two. Whole numbers stop at the ends of their range. A missing value of
  /// the server or ancestor counts as zero.
  case counterSum
  /// The server's list, without what the client removed, followed by what the client added.
  ///
  /// Additions and removals are those against the ancestor's list, which is empty if missing.
  case setUnion
  /// A function of the app; it must return the same for the same values, and not wait.
  ///
  /// It is asked also where both values are equal. The client's value is null where the edit removes
  /// the field. If the result is null the field is removed.
  case custom(
    @Sendable (_ client: FieldValue, _ server: FieldValue?, _ ancestor: FieldValue?) -> FieldValue
  )
}

extension FieldPolicy {
  /// Whether two edits that lead to the same value may be more than one of them.
  var countsEqualEdits: Bool {
    switch self {
    case .counterSum, .custom: true
    case .newest, .client, .server, .maximum, .setUnion: false
    }
  }

  /// Merges the three values of a field.
  ///
  /// - Parameters:
  ///   - client: The edit's value; null where it removes the field.
  ///   - server: The value that the cloud has.
  ///   - ancestor: The value that the edit was made from.
  ///   - clientIsNewer: What `newest` goes by.
  /// - Returns: The merged value; null removes the field.
  package func merge(
    client: FieldValue,
    server: FieldValue?,
    ancestor: FieldValue?,
    clientIsNewer: Bool
  ) -> FieldValue {
    let fitting: FieldValue? =
      switch self {
      case .newest: .none
      case .client: client
      case .server: server ?? .null
      case .maximum: Self.maximum(client: client, server: server)
      case .counterSum: Self.sum(client: client, server: server, ancestor: ancestor)
      case .setUnion: Self.union(client: client, server: server, ancestor: ancestor)
      case .custom(let merge): merge(client, server, ancestor)
      }
    return fitting ?? (clientIsNewer ? client : server ?? .null)
  }

  private static func maximum(client: FieldValue, server: FieldValue?) -> FieldValue? {
    switch (client, server) {
    case (.null, let server?): server
    case (_, nil): client
    case (.int64(let mine), .int64(let theirs)): .int64(max(theirs, mine))
    case (.timestamp(let mine), .timestamp(let theirs)): .timestamp(max(theirs, mine))
    case (.double(let mine), .double(let theirs)):
      .double(theirs.isNaN || mine > theirs ? mine : theirs)
    default: .none
    }
  }

  private static func sum(
    client: FieldValue,
    server: FieldValue?,
    ancestor: FieldValue?
  ) -> FieldValue? {
    switch (client, server) {
    case (.int64(let mine), .int64(let theirs)):
      .int64(sum(theirs, second: mine, minus: ancestor?.int64Value ?? 0))
    case (.int64(let mine), nil): .int64(sum(0, second: mine, minus: ancestor?.int64Value ?? 0))
    case (.double(let mine), .double(let theirs)):
      .double(theirs + (mine - (ancestor?.doubleValue ?? 0)))
    case (.double(let mine), nil): .double(mine - (ancestor?.doubleValue ?? 0))
    default: .none
    }
  }

  /// The exact sum and difference, brought into range at the end only.
  private static func sum(_ first: Int64, second: Int64, minus third: Int64) -> Int64 {
    let (partial, isOut) = first.addingReportingOverflow(second)
    let (result, isOutAgain) = partial.subtractingReportingOverflow(third)
    var carry = 0
    if isOut { carry += second > 0 ? 1 : -1 }
    if isOutAgain { carry += third < 0 ? 1 : -1 }
    return carry == 0 ? result : (carry > 0 ? .max : .min)
  }

  private static func union(
    client: FieldValue,
    server: FieldValue?,
    ancestor: FieldValue?
  ) -> FieldValue? {
    guard case .list(let mine) = client else { return .none }
    let theirs: [FieldValue]
    switch server {
    case .list(let values)?: theirs = values
    case nil: theirs = []
    default: return .none
    }
    // Sets are asked for members only; their order never shows.
    let base = Set(ancestor?.listValue ?? [])
    let kept = Set(mine)
    var result = theirs.filter { !base.contains($0) || kept.contains($0) }
    var known = base.union(theirs)
    for value in mine where known.insert(value).inserted { result.append(value) }
    return .list(result)
  }
}
