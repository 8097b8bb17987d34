extension PostgresStatement {
  // MARK: Transactions

  static let beginWriting = PostgresStatement(
    "begin_writing",
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
  )
  static let beginReading = PostgresStatement(
    "begin_reading",
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  )
  static let commit = PostgresStatement("commit", "COMMIT")
  static let rollback = PostgresStatement("rollback", "ROLLBACK")
  /// An account's lock: two accounts of one number only wait for each other.
  static let lockAccount = PostgresStatement(
    "lock_account",
    "SELECT pg_advisory_xact_lock($1::bigint)"
  )
  /// A lock of the whole store.
  static let lockStore = PostgresStatement(
    "lock_store",
    "SELECT pg_advisory_xact_lock($1::integer, $2::integer)"
  )

  // MARK: Documents

  static let documents = PostgresStatement(
    "documents",
    "SELECT key, body FROM cloudsync_documents WHERE key = ANY($1::bytea[])"
  )
  static let documentsBetween = PostgresStatement(
    "documents_between",
    "SELECT key, body FROM cloudsync_documents WHERE key >= $1 AND key < $2 ORDER BY key"
  )
  static let setDocuments = PostgresStatement(
    "set_documents",
    """
    INSERT INTO cloudsync_documents(key, body) SELECT * FROM unnest($1::bytea[], $2::bytea[])
    ON CONFLICT (key) DO UPDATE SET body = EXCLUDED.body
    """
  )
  static let removeDocuments = PostgresStatement(
    "remove_documents",
    "DELETE FROM cloudsync_documents WHERE key = ANY($1::bytea[])"
  )

  // MARK: Items

  static let items = PostgresStatement(
    "items",
    """
    SELECT name, position, body FROM cloudsync_items
    WHERE zone = $1::bigint AND name = ANY($2::bytea[])
    """
  )
  /// The last row is the one with which there are so many bytes.
  static let page = PostgresStatement(
    "page",
    """
    SELECT name, position, body FROM (
      SELECT name, position, body,
        sum(octet_length(body)) OVER (ORDER BY position) - octet_length(body) AS before
      FROM cloudsync_items WHERE zone = $1::bigint AND position > $2::bigint
      ORDER BY position LIMIT $3::bigint
    ) AS page WHERE before < $4::bigint ORDER BY position
    """
  )
  static let insertItems = PostgresStatement(
    "insert_items",
    """
    INSERT INTO cloudsync_items(zone, position, name, body)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])
    """
  )
  /// Fails where a row is not there, so that the transaction does.
  static let updateItems = PostgresStatement(
    "update_items",
    """
    WITH changed AS (
      UPDATE cloudsync_items AS item SET position = new.position, body = new.body
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])
        AS new(zone, former, position, body)
      WHERE item.zone = new.zone AND item.position = new.former
      RETURNING item.zone
    )
    SELECT 1 / (count(*) = cardinality($1::bigint[]))::integer FROM changed
    """
  )
  /// Some of a zone's items, so that no statement takes as long as a zone is large.
  static let removeItems = PostgresStatement(
    "remove_items",
    """
    DELETE FROM cloudsync_items WHERE zone = $1::bigint AND position <= (
      SELECT max(position) FROM (
        SELECT position FROM cloudsync_items WHERE zone = $1::bigint ORDER BY position LIMIT 10000
      ) AS part
    )
    """
  )

  // MARK: Links

  static let sources = PostgresStatement(
    "sources",
    """
    SELECT source FROM cloudsync_links WHERE zone = $1::bigint AND target = $2
    ORDER BY source LIMIT $3::bigint
    """
  )
  static let setLinks = PostgresStatement(
    "set_links",
    """
    INSERT INTO cloudsync_links(zone, target, source)
    SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) ON CONFLICT DO NOTHING
    """
  )
  static let removeLinks = PostgresStatement(
    "remove_links",
    """
    DELETE FROM cloudsync_links AS link
    USING unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS old(zone, target, source)
    WHERE link.zone = old.zone AND link.target = old.target AND link.source = old.source
    """
  )
  static let removeLinksOfZone = PostgresStatement(
    "remove_links_of_zone",
    """
    DELETE FROM cloudsync_links WHERE zone = $1::bigint AND (target, source) <= (
      SELECT target, source FROM (
        SELECT target, source FROM cloudsync_links WHERE zone = $1::bigint
        ORDER BY target, source LIMIT 10000
      ) AS part ORDER BY target DESC, source DESC LIMIT 1
    )
    """
  )

  /// What a connection that carries out transactions prepares.
  static let prepared = [
    beginWriting, beginReading, commit, rollback, lockAccount, lockStore, documents,
    documentsBetween, setDocuments, removeDocuments, items, page, insertItems, updateItems,
    removeItems, sources, setLinks, removeLinks, removeLinksOfZone,
  ]
}
