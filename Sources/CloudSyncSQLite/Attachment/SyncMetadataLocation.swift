/// Where an engine keeps what it knows of the rows.
///
/// Triggers can write only to tables of their own file. So the clock, the captured edits and the list of
/// tables are always in the database itself.
public enum SyncMetadataLocation: Sendable, Hashable {
  /// In the database itself.
  case sameFile
  /// In a file of its own, which is attached to the engine's connection as `cloudsync_metadata`: the
  /// database stays small, and the file need not be in backups.
  ///
  /// The path should be absolute. The file belongs to this database and goes with it: where it
  /// is missing, older or of another database, an engine is not made, unless
  /// ``SyncEngineOptions/acceptsLostMetadata`` says so. Connections that want to read
  /// `cloudsync_rows` or `cloudsync_status` attach it under that name themselves; the view is a
  /// temporary one of the engine's connection.
  ///
  /// The engine's connection writes with `PRAGMA synchronous = FULL`, because two files of which one may
  /// forget its last transactions in a power cut could not be kept in step.
  case attached(path: String)
}
