/// Which folders of a module use types of which others.
struct FolderGraph {
  /// By folder, the folders whose types it names.
  private var uses: [String: Set<String>] = [:]

  /// Reads the files of one module.
  init(_ files: [SourceFile]) {
    var folders: [String: String] = [:]
    for file in files {
      for name in file.declaredTypes where folders[name] == nil { folders[name] = file.folder }
    }
    for file in files {
      let own = Set(file.declaredTypes)
      for token in file.tokens where token.isWord && !own.contains(token.text) {
        guard let folder = folders[token.text], folder != file.folder else { continue }
        uses[file.folder, default: []].insert(folder)
      }
    }
  }

  /// The groups of folders each of which uses all others, directly or by way of others.
  var circles: [[String]] {
    let reach = uses.keys.reduce(into: [:]) { $0[$1] = reached(from: $1) }
    var found: [[String]] = []
    for folder in uses.keys.sorted() where reach[folder]?.contains(folder) == true {
      if found.contains(where: { $0.contains(folder) }) { continue }
      let others = (reach[folder] ?? []).filter { reach[$0]?.contains(folder) == true }
      found.append(others.sorted())
    }
    return found
  }

  private func reached(from folder: String) -> Set<String> {
    var seen: Set<String> = []
    var waiting = Array(uses[folder] ?? [])
    while let next = waiting.popLast() {
      if seen.insert(next).inserted { waiting += uses[next] ?? [] }
    }
    return seen
  }
}

extension SourceTree {
  /// The folders in `Sources`, in order.
  var modules: [String] { Set(files(in: "Sources").map(\.module)).sorted() }
}

extension SourceFile {
  /// The name of the module whose source it is: the folder in `Sources`.
  var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
}
