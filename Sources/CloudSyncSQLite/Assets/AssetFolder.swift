package import CloudSyncCore
package import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The files of BLOBs that are on their way to the cloud, named by their digests.
package struct AssetFolder: Sendable {
  package let options: AssetOptions

  package init(options: AssetOptions) {
    var options = options
    // A handler takes no path that means another file in another folder.
    options.folder = Asset.pathFromRoot(options.folder)
    options.base = options.base.map(Asset.pathFromRoot)
    self.options = options
  }

  private func path(_ digest: some Sequence<UInt8>) -> String {
    "\(options.folder)/\(Hexadecimal.text(of: digest))"
  }

  /// What the locations of stored assets are relative to.
  private var base: String { options.base ?? options.folder }

  /// The asset that a BLOB is, as it is stored; its file need not be there yet.
  package func asset(of bytes: [UInt8]) -> Asset {
    let digest = SHA256.digest(of: bytes)
    return Asset(sha256: Data(digest), byteCount: Int64(bytes.count), location: path(digest))
      .relative(to: base)
  }

  /// The handler with what it needs to find the files of stored assets.
  package func resolving(_ handler: any OperationHandler) -> any OperationHandler {
    AssetResolvingHandler(handler, folder: base)
  }

  /// Sees to it that an asset has its file: whole, or not at all.
  package func write(_ bytes: [UInt8], as asset: Asset) throws(SQLiteError) {
    let manager = FileManager.default
    let asset = asset.resolved(in: base)
    do {
      let known = try? manager.attributesOfItem(atPath: asset.location)[.size] as? Int64
      if known == asset.byteCount { return }
      try manager.createDirectory(atPath: options.folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(filePath: asset.location), options: .atomic)
    } catch {
      throw SQLiteError(
        code: 10,
        message: "the asset \(asset.location) cannot be written: \(error)"
      )
    }
  }

  /// The bytes of an asset that has come; or what is wrong with its file.
  package func read(_ asset: Asset) -> Result<[UInt8], AssetFailure> {
    let bytes: [UInt8]
    let asset = asset.resolved(in: base)
    do {
      bytes =
        if let read = options.read { try read(asset) } else {
          Array(try Data(contentsOf: URL(filePath: asset.location)))
        }
    } catch let failure as AssetFailure {
      return .failure(failure)
    } catch {
      let reason =
        FileManager.default.fileExists(atPath: asset.location)
        ? "the file \(asset.location) cannot be read: \(error)"
        : "the file \(asset.location) is not there"
      return .failure(AssetFailure(reason: reason))
    }
    guard SHA256.digest(of: bytes).elementsEqual(asset.sha256) else {
      return .failure(AssetFailure(reason: "the file \(asset.location) is not what was saved"))
    }
    return .success(bytes)
  }

  /// Removes a file that nobody needs any more.
  package func remove(_ digest: [UInt8]) throws(SQLiteError) {
    let path = path(digest)
    guard FileManager.default.fileExists(atPath: path) else { return }
    do { try FileManager.default.removeItem(atPath: path) } catch {
      throw SQLiteError(code: 10, message: "the asset \(path) cannot be removed: \(error)")
    }
  }
}

/// Why the bytes of an asset are not to be had.
package struct AssetFailure: Error {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}
