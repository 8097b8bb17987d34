import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Open operations")
struct OpenOperationsTests {
  private static func open(_ number: UInt64) -> OpenOperation {
    OpenOperation(
      ModifyOperation(recordIDsToDelete: [])
        .submitted(as: OperationID(epoch: 1, number: number), records: [], byteCount: 0)
    )
  }

  /// What there is to see of them.
  private static func seen(_ open: some Sequence<OpenOperation>) -> [String] {
    open.map { "\($0.number): \($0.left)" }
  }

  @Test(
    "They are what a plain list would be, also in versions that are kept",
    arguments: SuiteSize.some(2, of: Array(0..<8 as Range<UInt64>))
  )
  func followsModel(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var subject = OpenOperations()
    var model: [OpenOperation] = []
    var kept: [(subject: OpenOperations, seen: [String])] = []
    var next: UInt64 = 1
    // Growing first, then shrinking to nothing.
    for step in 0..<2_000 {
      let grows = random.chance(step < 1_000 ? 6 : 2, in: 8)
      if grows || model.isEmpty {
        next += UInt64(1 + random.below(3))
        subject.append(Self.open(next))
        model.append(Self.open(next))
      } else if random.chance(1, in: 3) {
        #expect(subject.popFirst()?.number == model.removeFirst().number)
      } else if random.chance(1, in: 2) {
        let number = model[random.below(model.count)].number
        #expect(subject.change(operation: number) { open in open.left = step } != nil)
        for place in model.indices where model[place].number == number { model[place].left = step }
      } else {
        let place = random.below(model.count)
        #expect(subject.remove(operation: model[place].number)?.left == model[place].left)
        model.remove(at: place)
      }
      if step % 100 == 0 { kept.append((subject, Self.seen(model))) }
      #expect(subject.count == model.count && subject.isEmpty == model.isEmpty)
      #expect(subject.first?.number == model.first?.number)
      #expect(subject.lastNumber == model.last?.number)
    }
    #expect(Self.seen(subject) == Self.seen(model))
    for (version, seen) in kept { #expect(Self.seen(version) == seen) }
  }

  @Test("One that is not there is not found, changed or removed")
  func absent() {
    var subject = OpenOperations()
    #expect(subject.popFirst() == nil && subject.remove(operation: 1) == nil)
    for number: UInt64 in [2, 4, 6] { subject.append(Self.open(number)) }

    for number: UInt64 in [0, 1, 3, 5, 7] {
      #expect(subject[number] == nil)
      #expect(subject.change(operation: number) { $0.left = 1 } == nil)
      #expect(subject.remove(operation: number) == nil)
    }
    #expect(Self.seen(subject) == ["2: 0", "4: 0", "6: 0"])
  }

  // MARK: Pages that are newer than answers

  /// What is known of the records of operations, as plain lists: pages change it in place.
  private struct Model {
    var operations: [(number: UInt64, answers: [ParkedChange], followUps: [ParkedChange])] = []

    mutating func hear(of told: [ParkedChange]) {
      for change in told {
        for place in operations.indices {
          Self.hear(of: change, in: &operations[place].answers)
          Self.hear(of: change, in: &operations[place].followUps)
        }
      }
    }

    private static func hear(of told: ParkedChange, in answers: inout [ParkedChange]) {
      for place in answers.indices where answers[place].recordID == told.recordID {
        switch (answers[place], told) {
        case (.saved(let known), .alreadyInCloud(let record)),
          (.alreadyInCloud(let known), .alreadyInCloud(let record)):
          if known.changeTag != record.changeTag { answers[place] = told }
        case (.saved, _), (.alreadyInCloud, _), (.deleted, _): answers[place] = told
        default: break
        }
      }
    }

    var recordsInCloud: Set<RecordID> {
      var records: Set<RecordID> = []
      for change in operations.flatMap({ $0.answers + $0.followUps }) {
        switch change {
        case .saved(let record), .alreadyInCloud(let record): records.insert(record.recordID)
        default: break
        }
      }
      return records
    }
  }

  private static func text(_ change: ParkedChange) -> String {
    switch change {
    case .saved(let record): "\(record.recordID.name) saved \(record.changeTag ?? "")"
    case .alreadyInCloud(let record): "\(record.recordID.name) there \(record.changeTag ?? "")"
    case .deleted(let recordID): "\(recordID.name) deleted"
    case .refused(let recordID, _), .dropped(let recordID, _): "\(recordID.name) refused"
    }
  }

  private static func texts(_ open: OpenOperation) -> [String] {
    let response = open.response
    var changes = response.savedRecords.map { ParkedChange.saved($0) }
    changes += response.alreadyInCloud.map { .alreadyInCloud($0) }
    changes += response.deletedRecordIDs.map { .deleted($0) }
    return changes.map(text).sorted() + open.followUps.map(text)
  }

  private static func draw(
    _ random: inout SplitMix64,
    _ name: String,
    isTold: Bool
  ) -> ParkedChange {
    let record = SessionHarness.record(name, ["x": 1], tag: "t\(random.below(3))")
    switch random.below(4) {
    case 0: return .deleted(record.recordID)
    case 1: return isTold ? .alreadyInCloud(record) : .saved(record)
    default: return .alreadyInCloud(record)
    }
  }

  @Test(
    "Pages stand for what was answered before them, whatever was stored and read in between",
    arguments: 0..<UInt64(SuiteSize.count(1, long: 24))
  )
  func pages(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var subject = OpenOperations()
    var model = Model()
    var next: UInt64 = 0
    for step in 0..<400 {
      switch random.below(8) {
      case 0, 1:
        next += 1
        subject.append(Self.open(next))
        model.operations.append((next, [], []))
      case 2, 3, 4:
        // Mostly the latest; one of them has more records than lie in one part.
        guard let last = model.operations.indices.last else { continue }
        let place = max(0, last - random.below(3))
        for item in 0..<(step == 200 ? 700 : 3) {
          let change = Self.draw(&random, "r\(step).\(item)", isTold: false)
          let again = Self.draw(&random, "shared\(random.below(4)).\(step)", isTold: false)
          subject.change(operation: model.operations[place].number) { open in
            open.add(change)
            if item == 0 { open.addFollowUp(again) }
            if item == 1 { open.addFollowUp(.refused(change.recordID, SyncError(.zoneBusy))) }
          }
          model.operations[place].answers.append(change)
          guard item < 2 else { continue }
          model.operations[place].followUps
            .append(
              item == 0 ? again : .refused(change.recordID, SyncError(.zoneBusy))
            )
        }
      case 5, 6:
        let names = model.operations.flatMap { $0.answers + $0.followUps }.map(\.recordID.name)
        guard !names.isEmpty else { continue }
        let told = (0..<5).map { _ in Self.draw(&random, random.pick(names), isTold: true) }
        subject.overtake(by: told)
        model.hear(of: told)
      default:
        if model.operations.count > 4, random.chance(1, in: 2) {
          let ended = subject.popFirst().map(Self.texts)
          let expected = Self.texts(of: model.operations.removeFirst())
          #expect(ended == expected)
        }
        // What follows from the operations is not stored with them.
        if random.chance(1, in: 3) { subject = try Self.readBack(subject) }
      }
      // It reads all that was answered.
      if step % 16 == 0 { #expect(subject.brokenIndex == nil) }
    }
    #expect(subject.brokenIndex == nil)
    #expect(Set(subject.answeredRecordsInCloud().keys) == model.recordsInCloud)
    #expect(subject.map(Self.texts) == model.operations.map(Self.texts(of:)))
    #expect(model.operations.contains { $0.answers.count > 512 } || model.operations.count > 4)
  }

  private static func texts(
    of operation: (number: UInt64, answers: [ParkedChange], followUps: [ParkedChange])
  ) -> [String] { operation.answers.map(text).sorted() + operation.followUps.map(text) }

  private static func readBack(_ operations: OpenOperations) throws -> OpenOperations {
    var writer = BinaryWriter()
    operations.write(to: &writer)
    var reader = BinaryReader(writer.bytes)
    return try OpenOperations(from: &reader)
  }
}
