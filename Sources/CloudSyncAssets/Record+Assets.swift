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
