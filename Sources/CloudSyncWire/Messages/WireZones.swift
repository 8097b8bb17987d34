package import CloudSyncCore

/// `zones/modify`, `zones/lookup`, `zones/list`: zones.
package enum WireZones {
  /// What is done to a zone.
  package enum Change: String, Sendable {
    case create
    case delete
  }

  /// The body of a request that creates a zone.
  package static func body(creating zoneID: ZoneID) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("operations")
      writer.array([zoneID]) { writer, zoneID in
        writer.object { writer in
          writer.member("operationType", Change.create.rawValue)
          writer.name("zone")
          writer.object { writer in
            writer.name("zoneID")
            WireZone.write(zoneID, to: &writer)
          }
        }
      }
    }
    return writer.bytes
  }

  /// Reads the body of a request that changes zones.
  package static func changes(
    reading bytes: [UInt8],
    scope: DatabaseScope,
    limit: Int
  ) throws(WireError) -> [(change: Change, zoneID: ZoneID)] {
    var changes: [(change: Change, zoneID: ZoneID)] = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, name) throws(WireError) in
      guard name == "operations" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        guard changes.count < limit else {
          throw reader.excess("a request has at most \(limit) operations")
        }
        var change: Change?
        var zoneID: ZoneID?
        try reader.object { (reader, name) throws(WireError) in
          switch name {
          case "operationType": change = Change(rawValue: try reader.string())
          case "zone": zoneID = try zone(from: &reader, scope: scope)
          default: try reader.skipValue()
          }
        }
        guard let change, let zoneID else {
          throw reader.failure("an operation has a type that is served, and a zone")
        }
        changes.append((change, zoneID))
      }
    }
    try reader.end()
    return changes
  }

  /// Reads the body of a request that asks for zones.
  package static func names(
    reading bytes: [UInt8],
    scope: DatabaseScope,
    limit: Int
  ) throws(WireError) -> [ZoneID] {
    var zones: [ZoneID] = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, name) throws(WireError) in
      guard name == "zones" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        guard zones.count < limit else {
          throw reader.excess("a request has at most \(limit) zones")
        }
        zones.append(try WireZone.read(scope: scope, from: &reader))
      }
    }
    try reader.end()
    return zones
  }

  /// Reads `{"zoneID": …}`.
  private static func zone(
    from reader: inout JSONReader,
    scope: DatabaseScope
  ) throws(WireError) -> ZoneID? {
    var zoneID: ZoneID?
    try reader.object { (reader, name) throws(WireError) in
      if name == "zoneID" {
        zoneID = try WireZone.read(scope: scope, from: &reader)
      } else {
        try reader.skipValue()
      }
    }
    return zoneID
  }

  // MARK: Responses

  /// The body of a response: an element for each zone, its error if it has one.
  package static func body(of zones: [(zoneID: ZoneID, error: SyncError?)]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("zones")
      writer.array(zones) { writer, zone in
        writer.object { writer in
          writer.name("zoneID")
          WireZone.write(zone.zoneID, to: &writer)
          if let error = zone.error {
            WireErrorTable.failure(of: error).failure.writeMembers(to: &writer)
          } else {
            writer.member("atomic", true)
          }
        }
      }
    }
    return writer.bytes
  }

  /// Reads the zones of a private database from the body of a response.
  package static func list(reading bytes: [UInt8]) throws(WireError) -> [ZoneID] {
    var zones: [ZoneID] = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, name) throws(WireError) in
      guard name == "zones" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        if let zoneID = try zone(from: &reader, scope: .private) { zones.append(zoneID) }
      }
    }
    try reader.end()
    return zones
  }

  /// Reads whether the thing that was created is there: nil, or why it is not.
  ///
  /// - Parameters:
  ///   - list: The name of the list in the body: `zones` or `subscriptions`.
  ///   - bytes: The body of a response with the status 200.
  ///   - zoneID: The zone.
  /// - Returns: The error; one that exists already is none.
  package static func error(
    in list: String,
    reading bytes: [UInt8],
    zoneID: ZoneID
  ) -> SyncError? {
    do throws(WireError) {
      var reader = JSONReader(bytes)
      var count = 0
      var failure: WireFailure?
      try reader.object { (reader, name) throws(WireError) in
        guard name == list else { return try reader.skipValue() }
        try reader.array { (reader) throws(WireError) in
          count += 1
          var members = WireFailure.Members()
          try reader.object { (reader, name) throws(WireError) in
            if try reader.isNull() { return }
            try members.take(name, in: zoneID, from: &reader)
          }
          failure = members.failure
        }
      }
      try reader.end()
      guard count == 1 else {
        return SyncError(.networkFailure, "the response has \(count) \(list)")
      }
      return failure.flatMap { $0.code == "EXISTS" ? nil : WireErrorTable.error(of: $0) }
    } catch { return SyncError(.networkFailure, "the response is no response: \(error)") }
  }
}

/// `subscriptions/modify`: who hears of changes.
package enum WireSubscriptions {
  /// The body of a request that subscribes to a zone.
  package static func body(subscribingTo zoneID: ZoneID) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("operations")
      writer.array([zoneID]) { writer, zoneID in
        writer.object { writer in
          writer.member("operationType", "create")
          writer.name("subscription")
          writer.object { writer in
            writer.member("subscriptionID", "cloudsync-\(zoneID.name)")
            writer.member("subscriptionType", "zone")
            writer.name("zoneID")
            WireZone.write(zoneID, to: &writer)
            writer.name("notificationInfo")
            writer.object { $0.member("shouldSendContentAvailable", true) }
          }
        }
      }
    }
    return writer.bytes
  }

  /// Reads the body of a request: the ID and the zone of the one subscription that is to be created.
  package static func subscription(
    reading bytes: [UInt8],
    scope: DatabaseScope
  ) throws(WireError) -> (id: String, zoneID: ZoneID) {
    var found: (id: String, zoneID: ZoneID)?
    var count = 0
    var reader = JSONReader(bytes)
    try reader.object { (reader, name) throws(WireError) in
      guard name == "operations" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        count += 1
        var type: String?
        var id: String?
        var zoneID: ZoneID?
        try reader.object { (reader, name) throws(WireError) in
          switch name {
          case "operationType": type = try reader.string()
          case "subscription":
            try reader.object { (reader, name) throws(WireError) in
              switch name {
              case "subscriptionID": id = try reader.string()
              case "zoneID": zoneID = try WireZone.read(scope: scope, from: &reader)
              default: try reader.skipValue()
              }
            }
          default: try reader.skipValue()
          }
        }
        if type == "create", let id, let zoneID { found = (id, zoneID) }
      }
    }
    try reader.end()
    guard count == 1, let found else {
      throw reader.failure("one subscription to a zone is created at a time")
    }
    return found
  }

  /// The body of a response.
  package static func body(id: String, zoneID: ZoneID, error: SyncError?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("subscriptions")
      writer.array([id]) { writer, id in
        writer.object { writer in
          writer.member("subscriptionID", id)
          if let error {
            WireErrorTable.failure(of: error).failure.writeMembers(to: &writer)
          } else {
            writer.member("subscriptionType", "zone")
            writer.name("zoneID")
            WireZone.write(zoneID, to: &writer)
          }
        }
      }
    }
    return writer.bytes
  }
}

/// `users/caller`: who asks.
package enum WireCaller {
  package static func body(name: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { $0.member("userRecordName", name) }
    return writer.bytes
  }

  /// The name of the account; nil if the bytes do not tell it.
  package static func name(reading bytes: [UInt8]) -> String? {
    var reader = JSONReader(bytes)
    var name: String?
    do throws(WireError) {
      try reader.object { (reader, member) throws(WireError) in
        if member == "userRecordName" {
          name = try reader.string()
        } else {
          try reader.skipValue()
        }
      }
      try reader.end()
    } catch { return nil }
    return name
  }
}
