import Testing

@Suite("The house")
struct TidyTests {
  @Test("The package keeps every rule", arguments: Rule.all)
  func packageKeeps(rule: Rule) throws {
    let tree = try SourceTree.ofThisPackage.get()

    for finding in rule.check(tree) { Issue.record("\(finding)") }
  }

  @Test("A rule refuses each of its bad samples", arguments: Rule.all)
  func refusesBadSamples(rule: Rule) {
    #expect(!rule.bad.isEmpty)
    for sample in rule.bad {
      #expect(!rule.check(sample).isEmpty, "\(sample.files.map(\.tokens))")
    }
  }

  @Test("A rule lets each of its good samples pass", arguments: Rule.all)
  func passesGoodSamples(rule: Rule) {
    #expect(!rule.good.isEmpty)
    for sample in rule.good {
      for finding in rule.check(sample) { Issue.record("\(finding)") }
    }
  }

  @Test("The rules see the manifest, the sources and the tests")
  func treeIsWhole() throws {
    let paths = try SourceTree.ofThisPackage.get().files.map(\.path)

    #expect(paths.contains("Package.swift"))
    #expect(paths.contains("Sources/CloudSyncSession/Exports.swift"))
    #expect(paths.contains("Tests/TidyTests/TidyTests.swift"))
    #expect(!paths.contains { $0.contains(".build") })
  }
}
