import CloudSyncCore

extension RecordEncoder {
  /// How coding keys become the names of fields.
  ///
  /// Encoder and decoder both go from the key to the name, so nothing has to be guessed back. Only
  /// a dictionary as the whole model asks for the keys of a record: see ``custom(_:)``.
  public enum KeyEncoding: Sendable {
    /// The name is the key.
    case useDefaultKeys
    /// Words begin at capitals and are parted by underscores: `lastSeenURL` is `last_seen_url`.
    case convertToSnakeCase
    /// The name is what a function makes of the key.
    ///
    /// The function must give the same name for a key always, and different names for different
    /// keys. A dictionary as the whole model can then not be decoded from names it changed.
    case custom(@Sendable (_ key: String) -> String)

    /// The name of the field for a key.
    package func fieldName(for key: String) -> String {
      switch self {
      case .useDefaultKeys: key
      case .convertToSnakeCase: Self.snakeCase(from: key)
      case .custom(let convert): convert(key)
      }
    }

    /// The text of a key that has this field name, if one can be found.
    package func key(for fieldName: String) -> String? {
      if case .convertToSnakeCase = self {
        let key = Self.camelCase(from: fieldName)
        if UTF8Bytes.equal(Self.snakeCase(from: key), fieldName) { return key }
      }
      return UTF8Bytes.equal(self.fieldName(for: fieldName), fieldName) ? fieldName : nil
    }

    private static func snakeCase(from key: String) -> String {
      let letters = Array(key.unicodeScalars)
      var result = String.UnicodeScalarView()
      for (index, letter) in letters.enumerated() {
        guard isCapital(letter) else {
          result.append(letter)
          continue
        }
        if index > 0, letters[index - 1] != "_" {
          // The last capital of several begins a word if a small letter follows.
          let followsCapital = isCapital(letters[index - 1])
          let precedesSmall = index + 1 < letters.count && isSmall(letters[index + 1])
          if !followsCapital || precedesSmall { result.append("_") }
        }
        result.append(Unicode.Scalar(UInt8(letter.value + 32)))
      }
      return String(result)
    }

    private static func camelCase(from name: String) -> String {
      var result = String.UnicodeScalarView()
      var beginsWord = false
      for letter in name.unicodeScalars {
        if letter == "_", !result.isEmpty, !beginsWord {
          beginsWord = true
        } else {
          result.append(
            beginsWord && isSmall(letter) ? Unicode.Scalar(UInt8(letter.value - 32)) : letter
          )
          beginsWord = false
        }
      }
      return String(result)
    }

    private static func isCapital(_ letter: Unicode.Scalar) -> Bool { ("A"..."Z") ~= letter }
    private static func isSmall(_ letter: Unicode.Scalar) -> Bool { ("a"..."z") ~= letter }
  }
}
