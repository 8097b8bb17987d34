import CloudSyncLocalCloud
import Logging
import ServiceLifecycle

/// Removes the files that no record has, every few hours.
struct AssetSweep: Service {
  let cloud: LocalCloud
  let pool: StorePool
  let logger: Logger

  private static let pause = Duration.seconds(6 * 3_600)

  func run() async throws {
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      await sweep()
      // It ends early when the server does, which is looked at anyway.
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
    }
  }

  private func sweep() async {
    let count = await pool.run(orElse: Int?.none) { [cloud] completion in
      do throws(LocalCloudStoreError) { completion(try cloud.removeUnusedAssets()) } catch {
        // A store that is away is looked after elsewhere; the next round comes.
        completion(nil)
      }
    }
    guard let count, count > 0 else { return }
    logger.info("removed files that no record has", metadata: ["count": "\(count)"])
  }
}
