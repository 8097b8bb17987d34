package import CloudSyncCore

extension Record {
  /// The assets of the record with the names of their fields, those in lists too.
  package var assets: [(field: String, asset: Asset)] {
    fields.flatMap { field -> [(field: String, asset: Asset)] in
      switch field.value {
      case .asset(let asset): [(field.name, asset)]
      case .list(let values): values.compactMap(\.assetValue).map { (field.name, $0) }
      default: []
      }
    }
  }
}

/// The files of the records of one request: over a slow line too they have to arrive before its deadline.
package enum RequestedFiles {
  /// How many bytes they may have, unless they are those of one record.
  package static let limit: Int64 = 25_000_000

  /// Throws if they have more, so that the records come in several requests.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - isThere: Whether a file has been received before.
  /// - Throws: `SyncError.Code.limitExceeded`.
  package static func check(
    _ records: [Record],
    butThose isThere: (Record, String, Asset) -> Bool = { _, _, _ in false }
  ) throws(SyncError) {
    guard records.count > 1 else { return }
    var rest = limit
    for record in records {
      for (field, asset) in record.assets where !isThere(record, field, asset) {
        rest -= asset.byteCount
        if rest < 0 {
          throw SyncError(
            .limitExceeded,
            "the files of \(records.count) records have more than \(limit) bytes"
          )
        }
      }
    }
  }
}
