import Foundation

/// The Swift files of a package, and the folders at its top level.
struct SourceTree: Sendable {
  let files: [SourceFile]
  /// The names of the folders beside the root manifest, those that begin with a dot left out.
  let folders: [String]
  /// The paths of the symbolic links: they are not followed.
  var links: [String] = []

  /// The files in a folder, given without a slash at its end.
  func files(in folder: String) -> [SourceFile] {
    files.filter { $0.path.hasPrefix(folder + "/") }
  }
}

extension SourceTree: ExpressibleByDictionaryLiteral {
  /// Makes a sample from paths and sources.
  init(dictionaryLiteral elements: (String, String)...) {
    files = elements.map { SourceFile(path: $0.0, source: $0.1) }
    folders = elements.map { $0.0.split(separator: "/").map(String.init) }
      .filter { $0.count > 1 }
      .map { $0[0] }
  }
}

extension SourceTree {
  /// The package that this file belongs to, read once.
  static let ofThisPackage = Result { try SourceTree(root: root) }

  private static var root: URL {
    var url = URL(fileURLWithPath: #filePath)
    for _ in ["SourceTree.swift", "Support", "TidyTests", "Tests"] { url.deleteLastPathComponent() }
    return url
  }

  private init(root: URL) throws {
    let manager = FileManager.default
    var files: [SourceFile] = []
    var links: [String] = []
    /// Reads a folder, and returns the names of the folders in it.
    func read(_ folder: String) throws -> [String] {
      let url = folder.isEmpty ? root : root.appendingPathComponent(folder)
      var inner: [String] = []
      let names = try manager.contentsOfDirectory(atPath: url.path).filter { !$0.hasPrefix(".") }
      for name in names.sorted() {
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        let file = root.appendingPathComponent(path)
        let type = try manager.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
        if type == .typeSymbolicLink {
          links.append(path)
        } else if type == .typeDirectory {
          inner.append(name)
          _ = try read(path)
        } else if name.hasSuffix(".swift") {
          let source = try String(contentsOf: file, encoding: .utf8)
          files.append(SourceFile(path: path, source: source))
        }
      }
      return inner
    }
    folders = try read("")
    self.files = files
    self.links = links
  }
}
