/// Where CloudKit's documentation leaves open what happens: each switch has both positions tried.
///
/// The numbers are those of the facts that they are about.
public struct StubWays: Sendable {
  /// Callbacks of items come in the reverse order of the request.
  public var isReversed = false
  /// Items that fail are told by their own blocks; otherwise only in the error at the end.
  public var tellsFailuresByItem = true
  /// The keys of a record include those of encrypted values.
  public var listsEncryptedKeys = false
  /// Zones of the user have the name of the user's record as owner, not the default name.
  public var hasRealOwners = false
  /// Archives of equal versions differ.
  public var variesSystemFields = false
  /// A request with the client token of the last one is answered as then, and not carried out again.
  public var knowsClientTokens = false
  /// A conflict has the server's record with it.
  public var conflictsHaveRecords = true
  /// What holds for the zone is told with the zone as key; otherwise with each record.
  public var tellsZoneErrorsByZone = true

  /// The ways that are most likely.
  public init() {}

  /// The likely ways, and each of the others by itself, with a name.
  public static var all: [(name: String, ways: StubWays)] {
    func with(_ name: String, _ change: (inout StubWays) -> Void) -> (name: String, ways: StubWays)
    {
      var ways = StubWays()
      change(&ways)
      return (name, ways)
    }
    return [
      with("likely") { _ in }, with("reversed") { $0.isReversed = true },
      with("failures at the end") { $0.tellsFailuresByItem = false },
      with("encrypted keys listed") { $0.listsEncryptedKeys = true },
      with("real owners") { $0.hasRealOwners = true },
      with("system fields vary") { $0.variesSystemFields = true },
      with("client tokens known") { $0.knowsClientTokens = true },
      with("conflicts without records") { $0.conflictsHaveRecords = false },
      with("zone errors by record") { $0.tellsZoneErrorsByZone = false },
    ]
  }
}
