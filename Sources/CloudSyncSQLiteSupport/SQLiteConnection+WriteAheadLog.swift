extension SQLiteConnection {
  /// How often a switch is tried.
  ///
  /// Whoever has lost once finds the file switched, unless somebody switches it back at the same moment.
  private static let attempts = 3

  /// Keeps changes in a log beside the file from now on, so that who reads and who writes do not wait
  /// for each other.
  ///
  /// - Throws: A `busy` error if somebody else keeps the file locked for longer than the busy timeout.
  package func useWriteAheadLog() throws(SQLiteError) {
    for attempt in 1...Self.attempts {
      do throws(SQLiteError) {
        try execute("PRAGMA journal_mode = WAL")
        return
      } catch {
        guard error.kind == .busy, attempt < Self.attempts else { throw error }
      }
      // Of several that switch a file at one moment each holds what the other waits for, and SQLite
      // refuses all but one at once. For a turn to write it waits.
      try execute("BEGIN EXCLUSIVE; COMMIT")
    }
  }
}
