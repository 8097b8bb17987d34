/// A save that the cloud refused because the record had changed meanwhile.
public struct Conflict: Hashable, Codable, Sendable, CodedValue {
  /// The edit that was refused: only the fields that the app set.
  public var client: Record
  /// The whole record as the cloud has it now.
  public var server: Record
  /// The whole record that the edit was made from, where it is known.
  public var ancestor: Record?

  /// Creates a conflict.
  public init(client: Record, server: Record, ancestor: Record? = nil) {
    self.client = client
    self.server = server
    self.ancestor = ancestor
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("client", client)
      $0.field("server", server)
      $0.field("ancestor", ancestor)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      Conflict(
        client: try reader.field("client"),
        server: try reader.field("server"),
        ancestor: try reader.field("ancestor")
      )
    }
  }

  /// Whether the app changed its record after the cloud's copy was last changed.
  ///
  /// An edit or a record without a modification date, and a tie, speak for the server.
  package var clientIsNewer: Bool {
    guard let mine = client.modificationDate, let theirs = server.modificationDate else {
      return false
    }
    return mine > theirs
  }

  /// An edit that leaves the cloud's record as it is.
  package var serverWins: Record {
    let storage = server.storage.copy(fields: [])
    storage.encryptedKeys = []
    return Record(storage: storage)
  }

  /// The client's edit, to be made on the cloud's present version, without what is there already.
  package var clientWins: Record {
    edit(client, setting: client.difference(from: server).fields)
  }

  /// An edit of the cloud's present version that sets these fields, sorted by name.
  ///
  /// What the cloud keeps encrypted stays encrypted. All that is no field is the given record's.
  package func edit(_ record: Record, setting fields: [RecordField]) -> Record {
    let storage = record.storage.copy(fields: fields)
    storage.changeTag = server.changeTag
    let keys = Record.union(of: record.encryptedKeys, and: server.encryptedKeys)
    storage.encryptedKeys = keys.isEmpty ? keys : keys.filter { storage.position(of: $0).isFound }
    return Record(storage: storage)
  }
}
