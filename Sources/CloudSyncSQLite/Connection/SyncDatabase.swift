/// How an engine gets at the database of its host.
///
/// The host may have any number of connections of its own. The engine needs one that writes, for a short
/// while now and then; ``DatabaseFile`` opens one, and a host that serializes its writes, as GRDB's
/// `DatabaseWriter` does, can lend its own.
///
/// A library that learns of changes from its own statements does not see the engine's:
/// ``WrittenTables`` tells it.
public protocol SyncDatabase: Sendable {
  /// Runs a block with a connection that can write, alone, on any thread, outside any transaction.
  ///
  /// - Parameter body: What is done; it begins and ends its transactions itself, and keeps neither the
  ///   connection nor anything that belongs to it.
  /// - Returns: What the block returns.
  /// - Throws: What the block throws, or why there is no connection.
  func write<Value: Sendable>(_ body: @Sendable (OpaquePointer) throws -> Value) throws -> Value
}
