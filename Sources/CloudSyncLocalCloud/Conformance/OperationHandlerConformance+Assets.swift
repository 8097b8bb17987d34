import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OperationHandlerConformance {
  /// Checks of assets.
  static let assets: [Check] = [
    Check(
      "Files of no byte, one and very many come over by their digests, in lists too",
      needs: .files
    ) { probe in
      await probe.createZone()
      let contents = [0, 1, probe.capabilities.largestAsset]
        .map { count in
          (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        }
      guard let assets = contents.asAssets(of: probe) else { return }
      let record = probe.note(
        "a",
        ["file": .asset(assets[2]), "files": .list(assets.map { .asset($0) })]
      )
      _ = await probe.save(device: probe.a, record: record)
      let page = await probe.pages(device: probe.b).last
      guard let found = page?.changedRecords.last else {
        return probe.expect(false, "the record did not come")
      }
      probe.expect(found["file"]?.fileBytes == [contents[2]], "the file came back changed")
      probe.expect(found["files"]?.fileBytes == contents, "the files of the list came back changed")
    },
    Check(
      "An asset that is replaced comes with its new file",
      needs: .files
    ) { probe in
      await probe.createZone()
      guard let assets = [[1], [2, 2]].asAssets(of: probe) else { return }
      var tag: String?
      for asset in assets {
        let edit = probe.note("a", ["file": .asset(asset)], tag: tag)
        tag = await probe.save(device: probe.a, record: edit)?.changeTag
      }
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [probe.id(name: "a")]),
        when: "looking up"
      )
      let found = page?.changedRecords.first?["file"]?.fileBytes
      probe.expect(found == [[2, 2]], "the file is another one")
    },
    Check(
      "A file that is missing, or is not what its asset says, fails its record alone",
      needs: .files
    ) {
      probe in
      await probe.createZone()
      guard let asset = [[1, 2, 3]].asAssets(of: probe)?.first else { return }
      let wrong = Asset(
        sha256: Data(repeating: 7, count: 32),
        byteCount: 3,
        location: asset.location
      )
      let gone = Asset(
        sha256: Data(repeating: 8, count: 32),
        byteCount: 3,
        location: asset.location + "-none"
      )
      for (name, asset) in [("wrong", wrong), ("gone", gone)] {
        probe.expect(
          await probe.a.modify([probe.note(name, ["file": .asset(asset)])]),
          fails: [name],
          with: [.assetFileNotFound, .assetFileModified, .invalidArguments],
          "a record with a bad file"
        )
      }
    },
  ]
}

extension [[UInt8]] {
  /// Writes each as a file; nil if the cloud keeps none.
  fileprivate func asAssets(of probe: ConformanceProbe) -> [Asset]? {
    guard let folder = probe.capabilities.assetFolder else { return nil }
    var assets: [Asset] = []
    for bytes in self {
      let digest = SHA256.digest(of: bytes)
      let path = "\(folder)/\(Hexadecimal.text(of: digest))"
      do {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
      } catch {
        probe.expect(false, "the folder of the check's files cannot be written: \(error)")
        return nil
      }
      assets.append(Asset(sha256: Data(digest), byteCount: Int64(bytes.count), location: path))
    }
    return assets
  }
}

extension FieldValue {
  /// The bytes of the files of the value's assets; a file that cannot be read is left out.
  fileprivate var fileBytes: [[UInt8]] {
    switch self {
    case .asset(let asset):
      (try? Data(contentsOf: URL(filePath: asset.location))).map { [[UInt8]($0)] } ?? []
    case .list(let values): values.flatMap(\.fileBytes)
    default: []
    }
  }
}
