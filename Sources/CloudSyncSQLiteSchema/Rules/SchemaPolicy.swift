/// What the app settles for a table, so that rules can be milder.
package struct SchemaPolicy: Sendable, Hashable {
  /// Whether NOT NULL without a default is an error rather than a warning: it stands in the way only
  /// where another version of the app does not know the column.
  package var requiresDefaults: Bool
  /// Whether it is settled what happens to rows that break a unique key.
  package var allowsUniqueKeys: Bool
  /// Whether the app sees to it that no two devices give one integer to two rows.
  package var allowsIntegerKeys: Bool
  /// Whether SQLite gives the integers, of which the engine has each device count others.
  package var countsIntegerKeys = false

  package init(
    requiresDefaults: Bool = true,
    allowsUniqueKeys: Bool = false,
    allowsIntegerKeys: Bool = false
  ) {
    self.requiresDefaults = requiresDefaults
    self.allowsUniqueKeys = allowsUniqueKeys
    self.allowsIntegerKeys = allowsIntegerKeys
  }
}
