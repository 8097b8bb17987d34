import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder beside a cloud's file in which the cloud keeps large values.
struct CloudAssetFolder: Sendable {
  private let path: String
  /// The cloud's name on the command line.
  private let cloud: String
  /// Where files may be: in the owner's folder, or where earlier versions kept them.
  private let places: [String]
  /// What brings back a file that is lost.
  private let remedy: String

  init(path: String, ofAccount owned: String?, cloud: String, remedy: String) {
    self.path = path
    self.cloud = cloud
    self.remedy = remedy
    places = [owned ?? path, path]
  }

  var isThere: Bool { FileManager.default.fileExists(atPath: path) }

  /// Makes the folder anew, empty.
  func make() throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch { throw ToolError.failure("\(path): the folder cannot be made: \(error)") }
  }

  /// That the folder is not there, in words.
  var absence: String { "the folder \(cloud)-assets with its large values is not beside it" }

  /// Why the file of an asset is not here, and what to do; nil if it is.
  func absence(of asset: Asset) -> String? {
    let length = file(of: asset).flatMap { Self.byteCount(of: $0) }
    if length == asset.byteCount { return nil }
    let what: String
    if let length {
      what = "its file in \(cloud)-assets has \(length) of \(asset.byteCount) bytes"
    } else if isThere {
      what = "its content is not in \(cloud)-assets, the folder beside \(cloud)"
    } else {
      what = "its content is not here, since \(absence)"
    }
    return
      "\(what): copy that folder there with all its files and sync again; if it is lost, \(remedy)"
  }

  /// The bytes of an asset, wherever the cloud was when it was saved.
  ///
  /// - Throws: What is missing, and what to do.
  func read(_ asset: Asset) throws -> [UInt8] {
    guard let file = file(of: asset) else {
      throw AssetFailure(reason: absence(of: asset) ?? absence)
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  private static func byteCount(of path: String) -> Int64? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? Int).map { Int64($0) }
  }

  private func file(of asset: Asset) -> String? {
    let name = Hexadecimal.text(of: asset.sha256)
    return places.map { "\($0)/\(name)" }.first { FileManager.default.fileExists(atPath: $0) }
  }
}
