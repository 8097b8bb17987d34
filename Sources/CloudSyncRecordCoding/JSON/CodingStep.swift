/// A key of a path that no model declares.
struct CodingStep: CodingKey {
  let stringValue: String
  let intValue: Int?

  /// What `Codable` puts a superclass under.
  static let superclass = CodingStep("super")

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { self.init(index: intValue) }
}
