import Foundation
import Testing

/// The articles' Swift code stands in the files of this target, where it is compiled, and much of it run.
///
/// A sample begins with the comment `SAMPLE: Module/Article.md` and ends with `SAMPLE: end`. Samples of one article
/// stand in one file, in the article's order. Those for CloudKit are compiled where there is a CloudKit, in
/// `Tests/CloudKitStub`, and the usage of a session beside the README's code, in `Tests/CloudSyncSessionTests`.
@Suite("Code in the articles")
struct CodeInArticlesTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func files(in folder: String, ending: String) -> [URL] {
    let folder = root.appendingPathComponent(folder)
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var found: [URL] = []
    while let file = all?.nextObject() as? URL {
      if file.path.hasSuffix(ending), !file.path.contains("/.build") { found.append(file) }
    }
    return found.sorted { $0.path < $1.path }
  }

  /// The code of every article that has some, by `Module/Article.md`.
  private static func articles() throws -> [String: [[String]]] {
    var shown: [String: [[String]]] = [:]
    for file in files(in: "Sources", ending: ".md") where file.path.contains("/Documentation.docc/")
    {
      let module = file.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent
      let blocks = CodeBlocks(
        of: try String(contentsOf: file, encoding: .utf8),
        from: { $0 == "```swift" ? "" : nil },
        to: { $0 == "```" }
      )
      if !blocks.all.isEmpty {
        shown["\(module)/\(file.lastPathComponent)"] = blocks.all.map(\.lines)
      }
    }
    return shown
  }

  /// The samples of every article, by `Module/Article.md`.
  private static func samples() throws -> [String: [[String]]] {
    var compiled: [String: [[String]]] = [:]
    let marker = "// SAMPLE: "
    for folder in [
      "Tests/CloudSyncDocumentationTests", "Tests/CloudSyncSessionTests", "Tests/CloudKitStub",
    ] {
      for file in files(in: folder, ending: ".swift") {
        let blocks = CodeBlocks(
          of: try String(contentsOf: file, encoding: .utf8),
          from: {
            $0.hasPrefix(marker) && $0 != marker + "end" ? String($0.dropFirst(marker.count)) : nil
          },
          to: { $0 == marker + "end" }
        )
        for block in blocks.all { compiled[block.title, default: []].append(block.lines) }
      }
    }
    return compiled
  }

  /// Whoever gives a target the products that a guide names has all modules that its code imports.
  @Test("Products have the modules that the guides to them import")
  func productsAreEnough() throws {
    let manifest = try String(
      contentsOf: Self.root.appendingPathComponent("Package.swift"),
      encoding: .utf8
    )
    let products = manifest.components(separatedBy: ".library(").dropFirst()
      .map { declaration in
        declaration.components(separatedBy: "]")[0].split(separator: "\"")
          .map(String.init).filter { $0.hasPrefix("CloudSync") }
      }
    #expect(products.count > 8)
    var checked = 0
    for (article, blocks) in try Self.articles() {
      let module = article.components(separatedBy: "/")[0]
      guard let product = products.first(where: { $0[0] == module }) else { continue }
      let path = article.replacingOccurrences(of: "/", with: "/Documentation.docc/")
      let text = try String(
        contentsOf: Self.root.appendingPathComponent("Sources/\(path)"),
        encoding: .utf8
      )
      let imports = blocks.joined().filter { $0.hasPrefix("import CloudSync") }
        .map { String($0.dropFirst("import ".count)) }
      for name in imports where !product.contains(name) {
        #expect(text.contains("`\(name)`"), "\(article) imports \(name), and names no such product")
      }
      checked += imports.count
    }
    #expect(checked > 5)
  }

  @Test("Every piece of Swift in an article is compiled, and every sample is shown")
  func isCompiled() throws {
    let articles = try Self.articles()
    let samples = try Self.samples()
    #expect(articles.count > 10)
    for (article, blocks) in articles.sorted(by: { $0.key < $1.key }) {
      let compiled = samples[article] ?? []
      #expect(blocks.count == compiled.count, "\(article) has other samples than its code")
      for (shown, compiled) in zip(blocks, compiled) {
        #expect(shown == compiled, "\(article): the sample is another one")
      }
    }
    for article in samples.keys.sorted() {
      #expect(articles[article] != nil, "no article \(article) shows its samples")
    }
  }
}

/// Pieces of a text between two marks, each without the indentation of its first mark.
struct CodeBlocks {
  var all: [(title: String, lines: [String])] = []

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - title: The title of the block that a line begins, if it does.
  ///   - isEnd: Whether a line ends a block.
  init(of text: String, from title: (String) -> String?, to isEnd: (String) -> Bool) {
    var isInside = false
    var indentation = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = String(line.drop { $0 == " " })
      if isInside, isEnd(trimmed) {
        isInside = false
      } else if isInside {
        all[all.count - 1].lines.append(String(line.dropFirst(indentation)))
      } else if let title = title(trimmed) {
        isInside = true
        indentation = line.count - trimmed.count
        all.append((title, []))
      }
    }
  }
}
