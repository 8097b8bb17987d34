import CloudSyncCore
import CloudSyncWebServices
import Foundation
import Testing

@Suite("WebTokenFile")
struct WebTokenFileTests {
  private static let numbers = Locked(0)
  private let folder: String
  private var path: String { folder + "/token" }

  init() throws {
    let number = Self.numbers.withLock { number in
      number += 1
      return number
    }
    let base = FileManager.default.temporaryDirectory.path
    folder = "\(base)/cloudsync-token-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func write(_ text: String, mode: Int = 0o600) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("35. A token is there after it was saved, for its owner only, and nothing else is left")
  func saves() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try WebTokenFile(path: path)
    #expect(try file.load() == nil)
    for text in ["first+/=", "second"] {
      try file.save(Secret(text))
      #expect(try file.load()?.reveal() == text)
      #expect(try mode(path) == 0o600)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
        "token", "token.lock",
      ]
    )
  }

  @Test("35. What a killed process left beside the file is no token; the one before is good")
  func leftovers() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("good\n")
    try "torn".write(toFile: path + ".new", atomically: false, encoding: .utf8)
    let file = try WebTokenFile(path: path)
    #expect(try file.load()?.reveal() == "good")
    try file.save("next")
    #expect(try file.load()?.reveal() == "next")
    #expect(try mode(path) == 0o600)
  }

  @Test("A file that others may read, has no token or is none is refused, without its text")
  func refused() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (text, mode) in [
      ("secret", 0o644), ("secret", 0o640), ("secret two", 0o600), ("secr\u{e9}t", 0o600),
      (String(repeating: "secret", count: 4_000), 0o600),
    ] {
      try write(text, mode: mode)
      do throws(WebTokenStoreError) {
        _ = try WebTokenFile(path: path)
        Issue.record("\(text.prefix(20)) with the mode \(mode) was taken")
      } catch { #expect(!error.description.contains("secr")) }
    }
    try write("")
    #expect(try WebTokenFile(path: path).load() == nil)
    #expect(throws: WebTokenStoreError.self) { try WebTokenFile(path: folder) }
    #expect(throws: WebTokenStoreError.self) { try WebTokenFile(path: folder + "/none/token") }
  }

  @Test("36. A second process cannot use the file meanwhile: they would spend each other's tokens")
  func lock() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var file: WebTokenFile? = try WebTokenFile(path: path)
    #expect(throws: WebTokenStoreError.self) { try WebTokenFile(path: path) }
    try file?.save("one")
    file = nil
    #expect(try WebTokenFile(path: path).load()?.reveal() == "one")
  }

  @Test("A token that cannot be written leaves the one before")
  func full() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try WebTokenFile(path: path)
    try file.save("old")
    // In the way of the new file.
    try FileManager.default.createDirectory(
      atPath: path + ".new/x",
      withIntermediateDirectories: true
    )
    #expect(throws: WebTokenStoreError.self) { try file.save("new") }
    #expect(try file.load()?.reveal() == "old")
  }
}
