/// A request of HTTP, without the connection that it comes by.
public struct HTTPRequest: Sendable, Hashable {
  /// The method, in capitals.
  public var method: String
  /// The path, with the query if there is one.
  public var target: String
  /// The headers.
  public var headers: HTTPHeaders
  /// The body.
  public var body: [UInt8]

  /// Creates a request.
  public init(
    method: String,
    target: String,
    headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = []
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  /// The target without its query.
  public var path: Substring { target.prefix { $0 != "?" } }
}

/// A response of HTTP.
public struct HTTPResponse: Sendable, Hashable {
  /// The status, as 200.
  public var status: Int
  /// The headers.
  public var headers: HTTPHeaders
  /// The body.
  public var body: [UInt8]
  /// The file that is the body instead, where whoever passes the response on has asked for files.
  public var file: HTTPFile?

  /// Creates a response.
  public init(
    status: Int,
    headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [],
    file: HTTPFile? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.file = file
  }
}

/// A file whose bytes are a body: it is read piece by piece, as fast as the client takes it.
public struct HTTPFile: Sendable, Hashable {
  /// The file's path.
  public var path: String
  /// How many bytes it has.
  public var byteCount: Int

  /// Creates the description of a file.
  public init(path: String, byteCount: Int) {
    self.path = path
    self.byteCount = byteCount
  }
}

/// Headers in their order, found by names without regard to case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One header.
  public struct Header: Sendable, Hashable {
    /// The name as it was written.
    public var name: String
    /// The value.
    public var value: String
  }

  /// All headers, in their order.
  public private(set) var all: [Header] = []

  /// Creates headers.
  public init() {}

  /// Creates headers of names and values.
  public init(dictionaryLiteral elements: (String, String)...) {
    all = elements.map { Header(name: $0.0, value: $0.1) }
  }

  /// The value of the first header of a name; setting replaces all of the name.
  public subscript(name: String) -> String? {
    get { all.first { Self.areEqual($0.name, name) }?.value }
    set {
      all.removeAll { Self.areEqual($0.name, name) }
      if let newValue { all.append(Header(name: name, value: newValue)) }
    }
  }

  private static func areEqual(_ lhs: String, _ rhs: String) -> Bool {
    lhs.utf8.elementsEqual(rhs.utf8) { left, right in
      left == right || (left | 0x20 == right | 0x20 && (left | 0x20) &- 0x61 < 26)
    }
  }
}
