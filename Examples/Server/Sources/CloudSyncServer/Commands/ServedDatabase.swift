import CloudSyncLocalCloud
import CloudSyncService
import PostgresStore

/// What a server keeps its records and tokens in: files in its folder, or a database that several servers share.
struct ServedDatabase {
  let store: any LocalCloudStore
  let tokens: any ServiceTokens
  /// What addresses of assets are signed with.
  let secret: [UInt8]
  /// Tells other servers of changes; nil where there are none.
  let notices: PostgresNotices?
  /// Keeps others out of the folder; nil where several servers share it.
  private let lock: FolderLock?

  /// Opens what the arguments name.
  ///
  /// - Parameters:
  ///   - given: The arguments.
  ///   - folder: The server's folder.
  ///   - connections: How many requests ask the database at the same time.
  ///   - console: Hears of what is wrong later.
  /// - Throws: What cannot be opened, and what to do.
  init(
    _ given: CommandArguments,
    in folder: ServerFolder,
    connections: Int,
    console: ServerConsole
  ) throws {
    if let postgres = try Self.postgres(given, connections: connections) {
      lock = nil
      store = postgres
      tokens = PostgresTokens(store: postgres)
      secret = try folder.sharedSecret()
      do throws(LocalCloudStoreError) { notices = try PostgresNotices(store: postgres) } catch {
        throw ServerFailure.failure("\(error)")
      }
    } else {
      lock = try folder.lock()
      store = try folder.openStore()
      tokens = try FileTokens(path: folder.tokens) { console.note("warning: \($0)") }
      secret = try folder.secret()
      notices = nil
    }
  }

  /// The database of `--postgres`; nil without it.
  ///
  /// - Parameters:
  ///   - given: The arguments.
  ///   - connections: How many requests ask it at the same time.
  /// - Returns: The store.
  /// - Throws: What is wrong with it, and what to do.
  static func postgres(
    _ given: CommandArguments,
    connections: Int = 1
  ) throws -> PostgresStore? {
    guard let conninfo = given.value(of: "--postgres") else { return nil }
    if let problem = PostgresConninfo.problem(conninfo) {
      throw ServerFailure.usage("--postgres: \(problem)")
    }
    var options = PostgresOptions()
    options.connections = connections
    do throws(LocalCloudStoreError) {
      return try PostgresStore(conninfo: conninfo, options: options)
    } catch { throw ServerFailure.failure("\(error)") }
  }
}
