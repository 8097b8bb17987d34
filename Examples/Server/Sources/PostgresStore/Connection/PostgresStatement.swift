/// A statement that never changes: what varies are its parameters.
struct PostgresStatement: Sendable {
  /// What a connection knows it by once it is prepared; empty for one that is used once.
  let name: StaticString
  let text: StaticString

  init(_ name: StaticString = "", _ text: StaticString) {
    self.name = name
    self.text = text
  }
}

/// A statement with its parameters.
struct PostgresCall: Sendable {
  let statement: PostgresStatement
  let parameters: [PostgresValue]

  init(_ statement: PostgresStatement, _ parameters: PostgresValue...) {
    self.statement = statement
    self.parameters = parameters
  }

  private init(statement: PostgresStatement, parameters: [PostgresValue]) {
    self.statement = statement
    self.parameters = parameters
  }

  /// The same for a connection on which nothing was prepared.
  var unprepared: PostgresCall {
    PostgresCall(statement: PostgresStatement("", statement.text), parameters: parameters)
  }
}
