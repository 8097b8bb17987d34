/// Where a demonstration leaves its files.
struct DemoFolder {
  let path: String

  /// Makes the folder that is wanted, which must not exist, or one of the system's for such things.
  init(_ wanted: String?) throws {
    path =
      try wanted.map { try NewFolder.make(at: $0) }
      ?? NewFolder.makeTemporary(for: "demo", option: "--keep")
  }

  /// The path of a file in the folder.
  func file(named name: String) -> String { "\(path)/\(name)" }
}
