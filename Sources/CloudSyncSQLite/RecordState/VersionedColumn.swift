package import CloudSyncCore

/// A column's value, and when it was set.
package struct VersionedColumn: Sendable, Hashable {
  package let name: String
  /// The value as ``ValueCodec`` makes it; null means NULL.
  package var value: FieldValue
  package var time: HybridTime

  package init(name: String, value: FieldValue, time: HybridTime) {
    self.name = name
    self.value = value
    self.time = time
  }

  package static func == (lhs: VersionedColumn, rhs: VersionedColumn) -> Bool {
    lhs.time == rhs.time && UTF8Bytes.equal(lhs.name, rhs.name) && lhs.value == rhs.value
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(value)
    hasher.combine(time)
  }
}
