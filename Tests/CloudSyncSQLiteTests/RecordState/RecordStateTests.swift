import CloudSyncCore
import Testing

@testable import CloudSyncSQLite

@Suite("The row's machine")
struct RecordStateTests {
  private func rules(
    _ policy: MergePolicy = .newest,
    _ deletes: DeletePolicy = .deleteWins
  ) -> RowRules {
    RowRules(writer: 1, policy: TableMergePolicy(columns: ["c": policy], deletes: deletes))
  }

  private func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  private func version(_ value: FieldValue, at number: Int64, created: Int64 = 1) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time(created)
    return RecordVersion(
      clock: clock,
      columns: [VersionedColumn(name: "c", value: value, time: time(number))]
    )
  }

  private func update(
    _ value: FieldValue,
    former: FieldValue? = nil,
    at number: Int64
  ) -> RecordEvent {
    .edited(.updated([ColumnEdit(name: "c", value: value, former: former)], at: time(number)))
  }

  /// A row that is clean, and then edited.
  private func edited(_ rules: RowRules, from base: FieldValue, to value: FieldValue) -> RecordState
  {
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(base, at: 2)), rules: rules)
    _ = state.reduce(update(value, at: 5), rules: rules)
    return state
  }

  // MARK: Policies

  @Test("Of two edits the policy says which one stays, once for each new state of the cloud")
  func policies() {
    let cases: [(policy: MergePolicy, mine: FieldValue, theirs: FieldValue, result: FieldValue)] = [
      (.newest, .int64(1), .int64(2), .int64(1)),
      (.client, .int64(1), .int64(2), .int64(1)),
      (.server, .int64(1), .int64(2), .int64(2)),
      (.maximum, .int64(1), .int64(2), .int64(2)),
      (.maximum, .int64(3), .int64(2), .int64(3)),
      (.setUnion, .string("[1,2]"), .string("[1,3]"), .string("[1,2,3]")),
      (.custom { _ in .int64(7) }, .int64(1), .int64(2), .int64(7)),
    ]
    for one in cases {
      let rules = rules(one.policy)
      var state = edited(rules, from: .string("[1]"), to: one.mine)
      // The cloud's edit is the older one.
      let theirs = version(one.theirs, at: 3)
      let actions = state.reduce(.conflict(tag: "2", over: "1", theirs, now: 0), rules: rules)
      #expect(state.row?.value(of: "c") == one.result)
      #expect(actions.contains(.writeRow) == (one.result != one.mine))
      #expect(state.isDirty == (one.result != one.theirs))
      // What comes of it is not merged with the same state again.
      let settled = state
      #expect(state.reduce(.has(tag: "2", version(one.theirs, at: 3)), rules: rules).isEmpty)
      #expect(state == settled)
    }
  }

  @Test(
    "An own edit whose response was lost is no conflict: the later edit stays, whatever the policy"
  )
  func lostResponses() {
    for policy in [MergePolicy.server, .maximum, .setUnion, .newest] {
      let rules = rules(policy)
      var state = edited(rules, from: .string("[1]"), to: .string("[1,9]"))
      _ = state.reduce(update(.string("[1]"), at: 7), rules: rules)
      _ = state.reduce(.has(tag: "2", version(.string("[1,9]"), at: 5)), rules: rules)
      #expect(state.row?.value(of: "c") == .string("[1]"))
      #expect(state.isDirty)
    }
  }

  @Test("Edits that two devices make in the same millisecond are a conflict: the policy is asked")
  func sameMoment() {
    let cases: [(policy: MergePolicy, mine: FieldValue, theirs: FieldValue, result: FieldValue)] = [
      (.setUnion, .string("[1,2]"), .string("[1,3]"), .string("[1,2,3]")),
      (.maximum, .int64(3), .int64(2), .int64(3)),
      (.server, .int64(1), .int64(2), .int64(2)),
      (.custom { _ in .int64(7) }, .int64(1), .int64(2), .int64(7)),
    ]
    for one in cases {
      let rules = rules(one.policy)
      var state = edited(rules, from: .string("[1]"), to: one.mine)
      let theirs = version(one.theirs, at: 5)
      _ = state.reduce(.conflict(tag: "2", over: "1", theirs, now: 0), rules: rules)
      #expect(state.row?.value(of: "c") == one.result)
      #expect(state.isDirty == (one.result != one.theirs))
    }
  }

  @Test("What was there before anybody captured it gives way to what the cloud has")
  func foundRows() {
    for policy in [MergePolicy.newest, .client, .maximum, .counter] {
      let rules = rules(policy)
      var state = RecordState()
      _ = state.reduce(.edited(.found([ColumnEdit(name: "c", value: .int64(9))])), rules: rules)
      var other = RecordState()
      let theirs = RowRules(writer: 2, policy: rules.policy)
      _ = other.reduce(.edited(.found([ColumnEdit(name: "c", value: .int64(2))])), rules: theirs)
      guard let found = other.row else { return #expect(Bool(false), "nothing was found") }
      #expect(state.reduce(.has(tag: "1", found), rules: rules) == [.writeRow])
      #expect(state.row?.value(of: "c") == .int64(2))
      #expect(!state.isDirty)
    }
  }

  // MARK: Life

  @Test("An older edit does not bring a deleted row back, and an older deletion ends no newer row")
  func lives() {
    let rules = rules()
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(.int64(1), at: 2)), rules: rules)
    _ = state.reduce(.edited(.deleted([], at: time(6))), rules: rules)
    _ = state.reduce(
      .conflict(tag: "2", over: "1", version(.int64(5), at: 9), now: 0),
      rules: rules
    )
    #expect(state.row?.clock.isDeleted == true)
    // Somebody has made it again, later than this deletion.
    #expect(
      state.reduce(.has(tag: "3", version(.int64(8), at: 7, created: 7)), rules: rules) == [
        .writeRow
      ]
    )
    #expect(state.row?.value(of: "c") == .int64(8))
    #expect(state.row?.deleted == time(6))
  }

  @Test(
    "Where edits win an edit that the deleter had not seen brings the row back, by whatever clock"
  )
  func editsWin() {
    let rules = rules(.newest, .editWins)
    var deleter = RecordState()
    _ = deleter.reduce(.has(tag: "1", version(.int64(1), at: 2)), rules: rules)
    var editor = deleter
    _ = deleter.reduce(.edited(.deleted([], at: time(900))), rules: rules)
    _ = editor.reduce(update(.int64(4), at: 3), rules: rules)
    guard let tombstone = deleter.row, let edit = editor.row else { return }
    _ = editor.reduce(.conflict(tag: "2", over: "1", tombstone, now: 0), rules: rules)
    #expect(editor.row?.value(of: "c") == .int64(4))
    #expect(editor.row?.clock.isDeleted == false)
    #expect(deleter.reduce(.has(tag: "2", edit), rules: rules) == [.writeRow])
    #expect(deleter.row == editor.row)
  }

  // MARK: Counters

  @Test("Additions of two devices add up, with a lost response as well")
  func counters() {
    let mine = rules(.counter)
    let theirs = RowRules(writer: 2, policy: mine.policy)
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(.int64(10), at: 2)), rules: mine)
    var other = state
    _ = state.reduce(update(.int64(11), former: .int64(10), at: 5), rules: mine)
    _ = other.reduce(update(.int64(11), former: .int64(10), at: 5), rules: theirs)
    guard let sent = other.row, let own = state.row else { return }
    _ = state.reduce(.conflict(tag: "2", over: "1", sent, now: 0), rules: mine)
    #expect(state.row?.value(of: "c") == .int64(12))
    // The own share comes back, of a response that was lost.
    var joined = other
    _ = joined.reduce(.has(tag: "3", own), rules: theirs)
    _ = state.reduce(.has(tag: "4", joined.row ?? own), rules: mine)
    #expect(state.row?.value(of: "c") == .int64(12))
    #expect(!state.isDirty)
  }

  @Test("A counter that is set to NULL or to text begins with nothing after it")
  func counterResets() {
    let rules = rules(.counter)
    var state = RecordState()
    _ = state.reduce(
      .edited(.inserted([ColumnEdit(name: "c", value: .int64(5))], at: time(1))),
      rules: rules
    )
    _ = state.reduce(update(.null, former: .int64(5), at: 2), rules: rules)
    #expect(state.row?.value(of: "c") == .null)
    _ = state.reduce(update(.int64(3), former: .null, at: 3), rules: rules)
    #expect(state.row?.value(of: "c") == .int64(3))
    _ = state.reduce(update(.string("x"), former: .int64(3), at: 4), rules: rules)
    #expect(state.row?.value(of: "c") == .string("x"))
    _ = state.reduce(update(.int64(4), former: .string("x"), at: 5), rules: rules)
    #expect(state.row?.value(of: "c") == .int64(4))
  }

  @Test("A share under the own number that this file has not written asks for another number")
  func copies() {
    let rules = rules(.counter)
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(.int64(0), at: 2)), rules: rules)
    var copy = state
    _ = state.reduce(update(.int64(1), former: .int64(0), at: 5), rules: rules)
    _ = copy.reduce(update(.int64(2), former: .int64(0), at: 6), rules: rules)
    guard let sent = copy.row else { return }
    let before = state
    #expect(state.reduce(.conflict(tag: "2", over: "1", sent, now: 0), rules: rules) == [.renumber])
    #expect(state == before)
    _ = state.reduce(.renumbered(from: 1, to: 7), rules: rules)
    let renumbered = RowRules(writer: 7, policy: rules.policy)
    _ = state.reduce(.conflict(tag: "2", over: "1", sent, now: 0), rules: renumbered)
    #expect(state.row?.value(of: "c") == .int64(3))
  }

  // MARK: Holds

  @Test(
    "A refusal in passing is tried again after waits that grow; one for good waits for an edit or the app"
  )
  func refusals() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    let busy = { (now: Int64) in
      RecordEvent.refused(.zoneBusy, reason: "busy", isPassing: true, wait: nil, now: now)
    }
    _ = state.reduce(busy(0), rules: rules)
    #expect(!state.isSendable(at: RecordState.firstWait - 1))
    #expect(state.isSendable(at: RecordState.firstWait))
    _ = state.reduce(busy(0), rules: rules)
    #expect(!state.isSendable(at: 2 * RecordState.firstWait - 1))
    for _ in 0..<80 { _ = state.reduce(busy(0), rules: rules) }
    #expect(state.isSendable(at: RecordState.longestWait))
    _ = state.reduce(
      .refused(.invalidArguments, reason: "bad", isPassing: false, wait: nil, now: 0),
      rules: rules
    )
    #expect(!state.isSendable(at: .max))
    var retried = state
    _ = retried.reduce(.retried, rules: rules)
    #expect(retried.isSendable(at: 0))
    _ = state.reduce(update(.int64(3), at: 8), rules: rules)
    #expect(state.isSendable(at: 0))
  }

  @Test("A response that a page has overtaken is dropped: what the page told is no older")
  func overtakenSave() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    let sent = state.row ?? RecordVersion()
    // The cloud has taken the save, another device has edited over it, and a page tells of that first.
    _ = state.reduce(.has(tag: "3", version(.int64(4), at: 9)), rules: rules)
    let told = state
    _ = state.reduce(.saved(tag: "2", over: "1", sent), rules: rules)
    #expect(state == told)
    _ = state.reduce(update(.int64(5), at: 12), rules: rules)
    _ = state.reduce(.saved(tag: "4", over: "3", state.row ?? RecordVersion()), rules: rules)
    #expect(!state.isDirty && state.known?.tag == "4")
  }

  @Test("A row that meets one conflict after the other has to wait")
  func conflictBudget() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    for tag in 0...rules.conflictBudget {
      #expect(state.isSendable(at: 0))
      let known = state.known?.tag
      let met = version(.int64(1), at: 2)
      _ = state.reduce(.conflict(tag: "\(tag) ", over: known, met, now: 0), rules: rules)
    }
    #expect(!state.isSendable(at: 0))
    #expect(state.isSendable(at: RecordState.firstWait))
  }

  @Test(
    "A record that the cloud does not have waits for the feed, and goes if a look-up says so where the feed says nothing"
  )
  func missingRecords() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    #expect(state.reduce(.missing(tag: state.known?.tag, now: 0), rules: rules) == [.fetch])
    #expect(!state.isSendable(at: .max))
    var known = state
    #expect(state.reduce(.fetchEnded, rules: rules) == [.lookUp])
    #expect(state == known)
    var denied = state
    #expect(state.reduce(.vanished, rules: rules) == [.forget])
    #expect(state == RecordState())
    // Or the fetch brings it after all, made anew; or the look-up, as it was.
    _ = known.reduce(.has(tag: "9", version(.int64(1), at: 2)), rules: rules)
    #expect(known.reduce(.fetchEnded, rules: rules).isEmpty)
    #expect(known.isSendable(at: 0))
    let tag = denied.known?.tag ?? ""
    _ = denied.reduce(.has(tag: tag, version(.int64(1), at: 2)), rules: rules)
    #expect(denied.reduce(.fetchEnded, rules: rules).isEmpty)
    #expect(denied.isSendable(at: 0))
  }

  @Test("So does one that was refused before: it is not sent again at once")
  func missingAfterRefusal() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    let refusal = RecordEvent.refused(
      .zoneBusy,
      reason: "busy",
      isPassing: true,
      wait: nil,
      now: 0
    )
    _ = state.reduce(refusal, rules: rules)
    let now = RecordState.firstWait
    #expect(state.isSendable(at: now))
    #expect(state.reduce(.missing(tag: state.known?.tag, now: now), rules: rules) == [.fetch])
    #expect(!state.isSendable(at: .max))
    #expect(state.reduce(.fetchEnded, rules: rules) == [.lookUp])
  }

  @Test(
    "A record that the cloud says not to have, and brings, is there; said too often, its row waits"
  )
  func missingAndBrought() {
    let rules = rules()
    var state = edited(rules, from: .int64(1), to: .int64(2))
    let edited = state.row
    for _ in 0..<rules.conflictBudget {
      #expect(state.isSendable(at: 0))
      let tag = state.known?.tag
      #expect(state.reduce(.missing(tag: tag, now: 0), rules: rules) == [.fetch])
      _ = state.reduce(.has(tag: tag ?? "", version(.int64(1), at: 2)), rules: rules)
      #expect(!state.isSendable(at: 0))
      #expect(state.reduce(.fetchEnded, rules: rules).isEmpty)
      #expect(state.row == edited)
    }
    let known = state.known?.tag
    #expect(state.reduce(.missing(tag: known, now: 0), rules: rules).isEmpty)
    #expect(!state.isSendable(at: 0))
    #expect(state.isSendable(at: RecordState.firstWait))
  }

  @Test("A tombstone that a full storage does not take goes as a deletion, after a fetch")
  func fullStorage() {
    let rules = rules()
    let refusal = RecordEvent.refused(
      .quotaExceeded,
      reason: "full",
      isPassing: true,
      wait: nil,
      now: 0
    )
    var state = edited(rules, from: .int64(1), to: .int64(2))
    #expect(state.reduce(refusal, rules: rules).isEmpty)
    _ = state.reduce(.edited(.deleted([], at: time(9))), rules: rules)
    #expect(state.reduce(refusal, rules: rules) == [.fetch])
    #expect(state.hold == .removal(isDue: false))
    var revived = state
    _ = state.reduce(.fetchEnded, rules: rules)
    #expect(state.hold == .removal(isDue: true))
    #expect(!state.isSendable(at: .max))
    _ = state.reduce(.purging, rules: rules)
    // Refused so too, it waits like others.
    _ = state.reduce(refusal, rules: rules)
    #expect(state.isSendable(at: RecordState.firstWait))

    _ = revived.reduce(.edited(.inserted([], at: time(10))), rules: rules)
    #expect(revived.hold == nil)
    #expect(revived.brokenInvariant(rules) == nil)
  }

  @Test("Where edits win, an edit of a row whose deletion is put off revives it; else it has ended")
  func editsOfDeferredDeletions() {
    for deletes in [DeletePolicy.editWins, .deleteWins] {
      let rules = rules(.newest, deletes)
      var state = RecordState()
      _ = state.reduce(.has(tag: "1", version(.int64(1), at: 2)), rules: rules)
      var gone = version(.int64(1), at: 2)
      gone.end(at: time(3), deletes: deletes)
      _ = state.reduce(.has(tag: "2", gone), rules: rules)
      _ = state.reduce(.placed(.deletionDeferred), rules: rules)
      _ = state.reduce(update(.int64(9), former: .int64(1), at: 4), rules: rules)

      #expect(state.isDeleted == (deletes == .deleteWins))
      #expect(state.placement == (deletes == .deleteWins ? .deletionDeferred : .inTable))
      #expect(state.brokenInvariant(rules) == nil)
    }
  }
}
