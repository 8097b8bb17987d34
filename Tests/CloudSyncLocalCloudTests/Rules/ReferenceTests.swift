import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: references and schema")
struct ReferenceTests {
  @Test(
    "A reference leads to a record of the server or of the same request",
    arguments: StoreKind.allCases,
    Reference.Action.allCases
  )
  func targetMustExist(kind: StoreKind, action: Reference.Action) throws {
    let device = try CloudWorld(kind).device()

    #expect(
      device.modify([device.link("a", to: "b", action)]).itemCodes == ["a": .referenceViolation]
    )
    #expect(device.modify([device.link("a", to: "b", action), device.note("b")]).error == nil)
    #expect(device.modify([device.link("c", to: "b", action)]).error == nil)
    #expect(device.modify([device.link("self", to: "self", action)]).error == nil)
    #expect(
      device.modify([device.link("d", to: "b", action)], delete: ["b"]).itemCodes
        == ["d": .referenceViolation, "b": .batchRequestFailed]
    )
  }

  @Test("A parent exists on the server or in the same request", arguments: StoreKind.allCases)
  func parentMustExist(kind: StoreKind) throws {
    let device = try CloudWorld(kind).device()
    var child = device.note("child")
    child.parent = device.id("parent")

    #expect(device.modify([child]).itemCodes == ["child": .referenceViolation])
    #expect(device.modify([child, device.note("parent")]).error == nil)
    var foreign = device.note("foreign")
    foreign.parent = RecordID(name: "parent", zoneID: ZoneID(name: "Other"))
    #expect(device.modify([foreign]).itemCodes == ["foreign": .invalidArguments])
  }

  @Test(
    "In a request that is not atomic, what refers to a refused item is refused too",
    arguments: StoreKind.allCases
  )
  func violationsSpread(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.isAtomic = false }.device()
    let records = [
      device.link("a", to: "b"), device.link("b", to: "c"), device.note("c", tag: "forged"),
      device.note("d"),
    ]

    let answer = device.modify(records)

    #expect(
      answer.itemCodes == ["a": .referenceViolation, "b": .referenceViolation, "c": .unknownItem]
    )
  }

  @Test("In an atomic request only the culprit has a code of its own")
  func culpritOnly() throws {
    let device = try CloudWorld().device()

    let answer = device.modify([device.link("a", to: "b"), device.note("b", tag: "forged")])

    #expect(answer.itemCodes == ["a": .batchRequestFailed, "b": .unknownItem])
  }

  @Test(
    "A plain reference dangles when its target goes, and may be saved again as it is",
    arguments: StoreKind.allCases
  )
  func danglingReference(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    let saved = try device.save(device.link("a", to: "b"), device.note("b"))[0]
    _ = try device.modify(delete: ["b"]).get()
    #expect(try world.names() == ["a"])

    #expect(device.modify([saved]).error == nil)
  }

  @Test("Options leave references unchecked, all or those that own nothing")
  func referenceChecks() throws {
    let world = try CloudWorld { $0.referenceCheck = .owning }
    let device = try world.device()
    #expect(device.modify([device.link("a", to: "none")]).error == nil)
    #expect(
      device.modify([device.link("b", to: "none", .deleteSelf)]).itemCodes == [
        "b": .referenceViolation
      ]
    )

    world.change { $0.referenceCheck = .none }
    #expect(device.modify([device.link("b", to: "none", .deleteSelf)]).error == nil)
  }

  @Test("References lead to the same zone")
  func sameZone() throws {
    let device = try CloudWorld().device()
    let target = RecordID(name: "b", zoneID: ZoneID(name: "Other"))
    let record = device.note("a", ["to": .reference(Reference(recordID: target))])

    #expect(device.modify([record]).itemCodes == ["a": .invalidArguments])
  }

  @Test(
    "A record goes with the target of a deleting reference, and so on, cycles included",
    arguments: StoreKind.allCases
  )
  func cascade(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(
      device.note("root"),
      device.link("a", to: "root", .deleteSelf),
      device.link("b", to: "a", .deleteSelf),
      device.link("c1", to: "c2", .deleteSelf),
      device.link("c2", to: "c1", .deleteSelf),
      device.link("stays", to: "a")
    )
    let token = try device.pages().last?.changeToken

    let response = try device.modify(delete: ["root", "c1"]).get()

    #expect(response.deletedRecordIDs.map(\.name) == ["root", "c1"])
    #expect(try world.names() == ["stays"])
    let gone = try device.pages(after: token).flatMap(\.deletedRecordIDs).map(\.name)
    #expect(gone == ["root", "a", "b", "c1", "c2"])
  }

  @Test(
    "With several deleting references, any target takes the record along; changed ones do not",
    arguments: StoreKind.allCases
  )
  func severalTargets(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    func reference(_ name: String) -> FieldValue {
      .reference(Reference(recordID: device.id(name), action: .deleteSelf))
    }
    try device.save(device.note("x"), device.note("y"), device.note("z"))
    try device.save(device.note("both", ["list": .list([reference("x"), reference("y")])]))
    let moved = try device.save(device.note("moved", ["to": reference("y")]))[0]
    try device.save(device.note("moved", ["to": reference("z")], tag: moved.changeTag))
    let cleared = try device.save(device.note("cleared", ["to": reference("y")]))[0]
    try device.save(device.note("cleared", ["to": .null], tag: cleared.changeTag))

    _ = try device.modify(delete: ["y"]).get()

    #expect(try world.names() == ["cleared", "moved", "x", "z"])
    _ = try device.modify(delete: ["z"]).get()
    #expect(try world.names() == ["cleared", "x"])
  }

  @Test(
    "At most 750 records go with one; the code for one more is an option",
    arguments: StoreKind.allCases
  )
  func cascadeLimit(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(device.note("root"))
    for start in stride(from: 0, to: 750, by: 250) {
      let records = (start..<start + 250).map { device.link("r\($0)", to: "root", .deleteSelf) }
      _ = try device.modify(records).get()
    }

    #expect(
      device.modify([device.link("more", to: "root", .deleteSelf)]).itemCodes == [
        "more": .limitExceeded
      ]
    )
    world.change { $0.deletingReferenceCode = .referenceViolation }
    #expect(
      device.modify([device.link("more", to: "root", .deleteSelf)]).itemCodes == [
        "more": .referenceViolation
      ]
    )
    _ = try device.modify(delete: ["r7"]).get()
    #expect(device.modify([device.link("more", to: "root", .deleteSelf)]).error == nil)
    _ = try device.modify(delete: ["root"]).get()
    #expect(try world.names().isEmpty)
  }

  @Test("The limit counts the items of the same request")
  func cascadeLimitInRequest() throws {
    let device = try CloudWorld { options in
      options.deletingReferenceLimit = 2
      options.isAtomic = false
    }
    .device()
    let records =
      [device.note("root")] + (0..<4).map { device.link("r\($0)", to: "root", .deleteSelf) }

    #expect(device.modify(records).itemCodes == ["r2": .limitExceeded, "r3": .limitExceeded])
  }

  // MARK: Schema

  @Test("The first save of a field fixes its type, for all accounts", arguments: StoreKind.allCases)
  func firstSaveFixesType(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(
      device.note("a", ["x": 1, "list": .list([1]), "none": .null, "empty": .list([])])
    )
    let bob = try world.device("phone", CloudWorld.bob)

    for fields: [String: FieldValue] in [
      ["x": "text"], ["x": .double(1)], ["list": .list(["a"])], ["list": 1],
    ] {
      #expect(device.modify([device.note("b", fields)]).itemCodes == ["b": .invalidArguments])
      #expect(bob.modify([bob.note("b", fields)]).itemCodes == ["b": .invalidArguments])
    }
    #expect(
      device.modify([device.note("b", ["none": "text", "empty": .list(["text"])])]).error == nil
    )
    #expect(
      device.modify([Record(recordType: "Task", recordID: device.id("c"), fields: ["x": "text"])])
        .error == nil
    )
  }

  @Test("A refused record adds nothing to the schema", arguments: StoreKind.allCases)
  func refusedAddsNothing(kind: StoreKind) throws {
    let device = try CloudWorld(kind) { $0.isAtomic = false }.device()
    try device.save(device.note("a", ["x": 1]))

    #expect(
      device.modify([device.note("b", ["new": 1, "x": "text"]), device.note("c")]).itemCodes == [
        "b": .invalidArguments
      ]
    )

    #expect(device.modify([device.note("d", ["new": "text"])]).error == nil)
  }

  @Test("A frozen schema takes nothing new", arguments: StoreKind.allCases)
  func frozenSchema(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(device.note("a", ["x": 1]))
    world.change { $0.schemaMode = .frozen }

    #expect(device.modify([device.note("b", ["x": 2, "new": .null])]).error == nil)
    #expect(device.modify([device.note("c", ["new": 1])]).itemCodes == ["c": .invalidArguments])
    let task = Record(recordType: "Task", recordID: device.id("t"))
    #expect(device.modify([task]).itemCodes == ["t": .invalidArguments])
    world.change { $0.unknownTypeCode = .unknownItem }
    #expect(device.modify([task]).itemCodes == ["t": .unknownItem])
  }

  @Test("Lists have values of one kind and no lists")
  func lists() throws {
    let device = try CloudWorld().device()
    let lists: [FieldValue] = [.list([1, "a"]), .list([.list([1])]), .list([.null])]

    for list in lists {
      #expect(device.modify([device.note("a", ["x": list])]).itemCodes == ["a": .invalidArguments])
    }
  }

  @Test("Encryption is fixed by the first save, and not for assets and references")
  func encryption() throws {
    let device = try CloudWorld().device()
    func note(_ name: String, _ fields: [String: FieldValue], _ keys: [String]) -> Record {
      var record = device.note(name, fields)
      record.encryptedKeys = keys
      return record
    }
    try device.save(note("a", ["secret": "s", "open": "o"], ["secret"]))

    #expect(device.modify([note("b", ["secret": "s"], [])]).itemCodes == ["b": .invalidArguments])
    #expect(
      device.modify([note("b", ["open": "s"], ["open"])]).itemCodes == ["b": .invalidArguments]
    )
    #expect(device.modify([note("b", ["secret": "s"], ["secret"])]).error == nil)
    let reference = FieldValue.reference(Reference(recordID: device.id("a")))
    #expect(
      device.modify([note("c", ["to": reference], ["to"])]).itemCodes == ["c": .invalidArguments]
    )
  }
}
