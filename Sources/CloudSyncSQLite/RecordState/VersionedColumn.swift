package import CloudSyncCore

/// A column's value, and when it was set.
package struct VersionedColumn: Sendable, Hashable {
  package let name: String
  /// The value as ``ValueCodec`` makes it; null means NULL.
  package var value: FieldValue
  package var time: HybridTime
  /// Which row it refers to, as far as that is known.
  package var life: RowLife?

  package init(name: String, value: FieldValue, time: HybridTime, life: RowLife? = nil) {
    self.name = name
    self.value = value
    self.time = time
    self.life = life
  }

  package static func == (lhs: VersionedColumn, rhs: VersionedColumn) -> Bool {
    lhs.time == rhs.time && lhs.life == rhs.life && UTF8Bytes.equal(lhs.name, rhs.name)
      && lhs.value == rhs.value
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(value)
    hasher.combine(time)
    hasher.combine(life)
  }
}
