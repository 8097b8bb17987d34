extension PostgresConnection {
  private static let set = PostgresStatement("", "SELECT set_config($1, $2, false)")
  /// Off would take what was answered when the machine loses power; stricter settings are kept.
  private static let makeDurable = PostgresStatement(
    "",
    """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """
  )
  private static let schema = PostgresStatement(
    "",
    "SELECT oid FROM pg_namespace WHERE nspname = current_schema()"
  )

  /// Another number after each start of the database server, and once the table was made anew or emptied: then it may
  /// have been restored from a backup.
  private static let findOrigin = PostgresStatement(
    "",
    """
    SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
      # coalesce(pg_relation_filenode(to_regclass('cloudsync_items')), 0)::bigint
    """
  )

  /// Bounds what may take long, and tells which schema the connection is in, and of which database's life.
  func applySettings(_ options: PostgresOptions) throws(PostgresFailure) {
    let settings: [(name: String, value: String)] = [
      ("lock_timeout", "\(options.lockWait.milliseconds)"),
      ("statement_timeout", "\(options.statementTime.milliseconds)"),
      ("idle_in_transaction_session_timeout", "\(options.idleTime.milliseconds)"),
      // Every statement finds its rows by an index: plans that were made while tables were small must not
      // read them whole when they have grown.
      ("enable_seqscan", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"),
      ("jit", "off"),
    ]
    let calls =
      settings.map { PostgresCall(Self.set, .text($0.name), .text($0.value)) }
      + [
        PostgresCall(Self.makeDurable), PostgresCall(Self.findOrigin), PostgresCall(Self.schema),
      ]
    let rows = try run(calls)
    guard let found = rows.last, found.count == 1 else {
      throw .refused(state: "3F000", message: "the search path names no schema")
    }
    namespace = Int32(truncatingIfNeeded: found.integer(row: 0, column: 0))
    origin = rows[rows.count - 2].integer(row: 0, column: 0)
  }
}
