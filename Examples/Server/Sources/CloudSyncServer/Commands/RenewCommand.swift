import CloudSyncLocalCloud

/// `cloudsync-server renew`: after a backup was restored.
enum RenewCommand {
  static let help = """
    Begin a new branch of the cloud's history, once after a backup was restored and before the server starts: devices
    have seen what the backup lacks. They are told that the zone was reset, and upload again what is missing.

    usage: cloudsync-server renew (--data DIR | --postgres CONNINFO)
    """

  static func run(_ arguments: [String], console: ServerConsole) throws {
    let given = try CommandArguments(arguments, options: ["--data", "--postgres"])
    if let store = try ServedDatabase.postgres(given) {
      do throws(LocalCloudStoreError) { try LocalCloud(store: store).renew() } catch {
        throw ServerFailure.failure("\(error)")
      }
      return console.note("PostgreSQL: a new branch has begun; start the servers")
    }
    let folder = try ServerFolder(try given.required("--data", "DIR"), isMade: false)
    let lock = try folder.lock()
    try withExtendedLifetime(lock) {
      do throws(LocalCloudStoreError) {
        try LocalCloud(store: try SQLiteStore(path: folder.cloud)).renew()
      } catch { throw ServerFailure.failure("\(error)") }
    }
    console.note("\(folder.cloud): a new branch has begun; start the server")
  }
}
