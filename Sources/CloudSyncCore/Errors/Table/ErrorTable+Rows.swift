extension ErrorTable {
  /// One line of the table: what a code leads to, by kind of work.
  public struct Row: Sendable, Hashable {
    /// The error's code.
    public let code: SyncError.Code
    /// For a modification whose whole request has the error.
    public let modifyRequest: ErrorDisposition
    /// For one item of a modification.
    public let modifyItem: ErrorDisposition
    /// For a fetch.
    public let fetch: ErrorDisposition
    /// For the creation of the zone.
    public let createZone: ErrorDisposition
    /// For the creation of the subscription.
    public let createSubscription: ErrorDisposition
  }

  /// The whole table: CloudKit's 37 codes, then the row of every unknown code.
  public static var rows: [Row] {
    (SyncError.Code.cloudCodes + [.unknown(0)])
      .map { code in
        Row(
          code: code,
          modifyRequest: disposition(of: code, for: .modify, in: .request),
          modifyItem: disposition(of: code, for: .modify, in: .item),
          fetch: disposition(of: code, for: .fetch, in: .request),
          createZone: disposition(of: code, for: .createZone, in: .request),
          createSubscription: disposition(of: code, for: .createSubscription, in: .request)
        )
      }
  }

  /// The table as Markdown: what the documentation shows.
  public static var markdown: String {
    var lines = [
      "| code | modify, whole request | modify, one item | fetch | create zone | create subscription |",
      "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows {
      let name = row.code.isUnknown ? "any other" : "\(row.code.rawValue) \(row.code)"
      let cells = [
        row.modifyRequest, row.modifyItem, row.fetch, row.createZone, row.createSubscription,
      ]
      lines.append("| \(name) | \(cells.map(\.rawValue).joined(separator: " | ")) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
