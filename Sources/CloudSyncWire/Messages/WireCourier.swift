/// `tokens/create`, and what comes from the address that it gives.
package enum WireCourier {
  /// The body of a request for an address, in the environment of the database.
  package static func request(environment: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { $0.member("apnsEnvironment", environment) }
    return writer.bytes
  }

  /// The body of the response: the token is nothing that anybody needs here, but part of the API.
  package static func body(address: String, token: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("apnsEnvironment", "production")
      writer.member("apnsToken", token)
      writer.member("webcourierURL", address)
    }
    return writer.bytes
  }

  /// Reads the address of a response; nil if the bytes do not tell it.
  package static func address(reading bytes: [UInt8]) -> String? {
    var reader = JSONReader(bytes)
    var address: String?
    do throws(WireError) {
      try reader.object { (reader, member) throws(WireError) in
        if member == "webcourierURL" {
          address = try reader.string()
        } else {
          try reader.skipValue()
        }
      }
      try reader.end()
    } catch { return nil }
    return address
  }

  /// The body of a notification: whatever is in it, it means “fetch”.
  package static func notification(container: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("aps")
      writer.object { $0.member("content-available", Int64(1)) }
      writer.name("ck")
      writer.object { $0.member("cid", container) }
    }
    return writer.bytes
  }
}
