/// What becomes of rows whose parent was deleted although a foreign key forbids it.
///
/// A database that has the rows refuses to delete their parent where the foreign key says `RESTRICT`, or
/// `NO ACTION`, which is what SQL takes if nothing is said. But another device may not have the rows
/// yet, or not enforce foreign keys. The outcome is the same on every device, whether or not it
/// enforces foreign keys, and whichever comes first, the rows or the deletion.
///
/// `CASCADE`, `SET NULL` and `SET DEFAULT` say themselves what to do, and need no policy. `SET NULL` of a
/// column that cannot be NULL, and `SET DEFAULT` where no row has the default as its key, bring the
/// parent back.
///
/// Where edits win, a row that was deleted with its parent may live on by another device's edit, and nobody has the parent.
/// Then it comes back with what its record has; if that has nothing, because deletions win in its table, the columns that
/// refer to it become NULL where they can.
public enum OrphanPolicy: Sendable, Hashable, CaseIterable {
  /// The parent comes back, with all of its values, and so do the rows that were to go with it.
  case restoreParent
  /// The rows are deleted too, as by `CASCADE`.
  case deleteChildren
  /// The columns that refer to the parent become NULL, as by `SET NULL`.
  case detachChildren
}
