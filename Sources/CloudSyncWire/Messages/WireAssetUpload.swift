package import CloudSyncCore

/// `assets/upload`: where the bytes of an asset go before its record is saved.
package enum WireAssetUpload {
  /// The body of a request for the address of one asset.
  package static func body(for recordID: RecordID, field: String, recordType: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("zoneID")
      WireZone.write(recordID.zoneID, to: &writer)
      writer.name("tokens")
      writer.array([recordID.name]) { writer, name in
        writer.object { writer in
          writer.member("recordType", recordType)
          writer.member("recordName", name)
          writer.member("fieldName", field)
        }
      }
    }
    return writer.bytes
  }

  /// One asset that is to be uploaded.
  package struct Token: Sendable {
    package var recordName: String?
    package var fieldName: String
  }

  /// Reads the body of a request.
  package static func tokens(
    reading bytes: [UInt8],
    limit: Int
  ) throws(WireError) -> [Token] {
    var tokens: [Token] = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, name) throws(WireError) in
      guard name == "tokens" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        guard tokens.count < limit else {
          throw reader.excess("a request has at most \(limit) tokens")
        }
        var recordName: String?
        var fieldName: String?
        try reader.object { (reader, name) throws(WireError) in
          switch name {
          case "recordName": recordName = try reader.optionalString()
          case "fieldName": fieldName = try reader.string()
          default: try reader.skipValue()
          }
        }
        guard let fieldName else { throw reader.failure("an asset is one of a field") }
        tokens.append(Token(recordName: recordName, fieldName: fieldName))
      }
    }
    try reader.end()
    return tokens
  }

  /// The body of the response: an address for each asset.
  package static func body(of tokens: [(token: Token, url: String)]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("tokens")
      writer.array(tokens) { writer, entry in
        writer.object { writer in
          writer.member("recordName", entry.token.recordName)
          writer.member("fieldName", entry.token.fieldName)
          writer.member("url", entry.url)
        }
      }
    }
    return writer.bytes
  }

  /// The body of the response to the bytes themselves.
  package static func body(of asset: WireAsset) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("singleFile")
      asset.write(to: &writer)
    }
    return writer.bytes
  }

  /// Reads what the service says of the bytes that it got; nil if it says nothing.
  package static func asset(reading bytes: [UInt8]) -> WireAsset? {
    var reader = JSONReader(bytes)
    var asset: WireAsset?
    do throws(WireError) {
      try reader.object { (reader, name) throws(WireError) in
        if name == "singleFile" {
          asset = try WireAsset(from: &reader)
        } else {
          try reader.skipValue()
        }
      }
      try reader.end()
    } catch { return nil }
    return asset
  }
}
