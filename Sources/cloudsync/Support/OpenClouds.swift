import CloudSyncCore
import CloudSyncLocalCloud

/// The clouds in files that commands have opened.
///
/// What a command leaves behind may still hold their connections when the process ends, and then SQLite leaves the last
/// changes in a log beside the file: whoever copied the file alone would have a cloud without them.
enum OpenClouds {
  private static let stores = Locked<[(store: SQLiteStore, path: String)]>([])

  static func note(_ store: SQLiteStore, at path: String) {
    stores.withLock { $0.append((store, path)) }
  }

  /// Has each file hold all that is in it, at the end of a command.
  static func checkpoint(console: Console) {
    let open = stores.withLock { stores in
      defer { stores = [] }
      return stores
    }
    for (store, path) in open {
      do throws(LocalCloudStoreError) { try store.checkpoint() } catch {
        // Nothing is lost, and the command has done what it was to do.
        console.note("\(path)-wal holds the cloud's last changes and belongs to \(path): \(error)")
      }
    }
  }
}
