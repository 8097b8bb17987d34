import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The lives of rows that go on under other keys, as users have changed them.
///
/// What anybody has edited of such a life, under the old key and without knowing of the new one too, is an edit of the
/// life under the new key, at the time when it was made.
struct RowRenames {
  private struct Rename {
    let from: RowID
    var life: Int64
    /// The device on which the key was changed.
    let device: Int
    let to: RowID
    let born: Int64
    let time: HybridTime
    /// The place of the insertion in the new key's history.
    let place: Int
  }

  private struct Life: Hashable {
    let row: RowID
    let number: Int64
  }

  private var renames: [Rename] = []
  /// The numbers of lives under their keys, by what they were born with under former ones: whoever has heard of a new key, and
  /// not of its record, has the row with its old number.
  private var numbers: [Life: Int64] = [:]

  /// Where a row of a key that was inserted with a number has gone; nil if it has gone several ways, or round.
  func end(of row: RowID, life: Int64) -> [(row: RowID, life: Int64)]? {
    var way = [(row: row, life: number(of: life, under: row))]
    while way.count <= renames.count + 1 {
      let last = way[way.count - 1]
      let next = renames.filter { $0.from == last.row && $0.life == last.life }
      if next.isEmpty { return way }
      guard next.count == 1 else { return nil }
      way.append((next[0].to, next[0].born))
    }
    return nil
  }

  /// Finds them.
  init(_ histories: [RowHistory]) {
    for history in histories {
      for (place, (device, edit)) in history.edits.enumerated() {
        guard let origin = edit.origin, edit.isCaptured, let born = edit.born,
          let former = histories.first(where: { $0.id == origin }),
          let end = former.edits.last(where: {
            // What was deleted unseen is of no time that anybody knows: it is another deletion.
            $0.device == device && $0.edit.isDeletion && $0.edit.isCaptured
              && $0.edit.life != nil && $0.edit.time <= edit.time
          }),
          let life = end.edit.life
        else { continue }
        renames.append(
          Rename(
            from: origin,
            life: life,
            device: device,
            to: history.id,
            born: born,
            time: edit.time,
            place: place
          )
        )
      }
    }
    renames.sort { $0.time < $1.time }
    noteNumbers()
  }

  private mutating func noteNumbers() {
    for place in renames.indices {
      let one = renames[place]
      let life = number(of: one.life, under: one.from)
      renames[place].life = life
      let former = numbers.filter { $0.key.row == one.from && $0.value == life }.map(\.key.number)
      for number in [life] + former { numbers[Life(row: one.to, number: number)] = one.born }
    }
  }

  /// What a life was born with under a key that has it with a number.
  private func number(of life: Int64, under row: RowID) -> Int64 {
    numbers[Life(row: row, number: life)] ?? life
  }

  /// Gives the edits of lives that go on to the histories of their new keys.
  ///
  /// - Parameters:
  ///   - histories: All of them.
  ///   - places: Where each row's is.
  ///   - parents: The rows that a row refers to by its key.
  ///   - deletes: What becomes of rows of a table that are deleted here and edited there.
  ///   - mayGo: Whether an engine may have deleted a row with one that it has referred to: that is in no history.
  func moveEdits(
    in histories: inout [RowHistory],
    places: [RowID: Int],
    parents: (RowID) -> [RowID],
    deletes: (String) -> DeletePolicy,
    mayGo: (RowHistory) -> Bool
  ) {
    numberLives(in: &histories)
    var targets: [Life: Set<RowID>] = [:]
    for one in renames {
      targets[Life(row: one.from, number: one.life), default: []].insert(one.to)
    }
    // Of a row that got two keys at once one is made: which, and when, only the engines know.
    var unsure: Set<Life> = []
    for one in renames {
      let life = Life(row: one.from, number: one.life)
      if targets[life].map({ $0.count > 1 }) ?? false { unsure.insert(life) }
      guard let from = places[one.from], let to = places[one.to] else { continue }
      // Where two rows have met that were made under one key, edits of the one may be the other's too.
      if histories[from].isDoubled || histories[to].isDoubled
        || histories[from].isUnsure || histories[to].isUnsure || mayGo(histories[from])
        || isContested(one, in: histories[from], deletes: deletes)
        || isOverborne(one, in: histories, places: places, deletes: deletes)
      {
        unsure.insert(life)
      }
    }
    unsure.formUnion(returned(in: histories))
    spreadDoubt(from: unsure, in: &histories, places: places, parents: parents)
    for one in renames {
      // Those of a life that goes on as a row of which nothing is sure are not the former key's either.
      guard let from = places[one.from], let to = places[one.to], !histories[from].isUnsure else {
        continue
      }
      strip(insertionAt: one.place, of: &histories[to])
      move(one, from: from, to: to, in: &histories)
    }
  }

  /// Lives that have come back to a former key: the engine does that where another row has got the new one.
  private func returned(in histories: [RowHistory]) -> [Life] {
    renames.filter { one in
      guard let history = histories.first(where: { $0.id == one.from }) else { return false }
      let isBorn = history.insertions.contains { $0.born == one.born }
      return !isBorn && history.edits.contains { $0.edit.life == one.born }
    }
    .map { Life(row: $0.from, number: $0.life) }
  }

  private func numberLives(in histories: inout [RowHistory]) {
    for row in histories.indices {
      for place in histories[row].edits.indices {
        guard let life = histories[row].edits[place].edit.life else { continue }
        histories[row].edits[place].edit.life = number(of: life, under: histories[row].id)
      }
    }
  }

  /// Whether somebody else has ended the same life without knowing that it goes on: where deletions win, only the engines
  /// know which edits that has ended; so they do of a row that was made anew meanwhile.
  private func isContested(
    _ rename: Rename,
    in history: RowHistory,
    deletes: (String) -> DeletePolicy
  ) -> Bool {
    // What nobody had seen who has made the row anew goes along with that.
    if deletes(rename.from.table) == .editWins,
      history.edits.contains(where: { device, edit in
        edit.life.map { $0 != rename.life } ?? false && !edit.isDeletion && device != rename.device
      })
    {
      return true
    }
    // Of what a migration has deleted unseen nobody has noted which life it was.
    let ends = history.edits
      .filter { $0.edit.isDeletion && ($0.edit.life == rename.life || $0.edit.life == nil) }
    if ends.count < 2 { return false }
    if deletes(rename.from.table) == .deleteWins || history.insertions.count > 1 { return true }
    // What somebody has edited and then deleted is gone with the old key, where nothing else has brought it further.
    return ends.contains { end in
      end.device != rename.device
        && history.edits.contains {
          $0.device == end.device && $0.edit.life == rename.life && !$0.edit.isDeletion
            && ($0.edit.time <= end.edit.time || !end.edit.isCaptured)
        }
    }
  }

  /// Whether edits of the row under its old keys may be older than what the row had that was deleted under the new key:
  /// where edits win that is there still, and what comes along, or later, outranks both.
  private func isOverborne(
    _ rename: Rename,
    in histories: [RowHistory],
    places: [RowID: Int],
    deletes: (String) -> DeletePolicy
  ) -> Bool {
    guard deletes(rename.from.table) == .editWins, let to = places[rename.to],
      !histories[to].deletions.isEmpty
    else { return false }
    let replaced = histories[to].edits.map(\.edit)
      .filter { !$0.isDeletion && $0.time < rename.time && ($0.life ?? $0.born) != rename.born }
    guard let newest = replaced.map(\.time).max() else { return false }
    var open = [rename]
    var known: Set<Life> = []
    while let one = open.popLast() {
      guard known.insert(Life(row: one.from, number: one.life)).inserted,
        let from = places[one.from]
      else { continue }
      let hasOlder = histories[from].edits.map(\.edit)
        .contains { edit in
          let life = edit.life ?? (edit.origin == nil ? edit.born : nil)
          return life == one.life && !edit.isDeletion && edit.time <= newest
        }
      if hasOlder { return true }
      open += renames.filter { $0.to == one.from && $0.born == one.life }
    }
    return false
  }

  /// What is unsure of a row is unsure of those that it becomes, and was, and of rows whose keys change with its key.
  private func spreadDoubt(
    from lives: Set<Life>,
    in histories: inout [RowHistory],
    places: [RowID: Int],
    parents: (RowID) -> [RowID]
  ) {
    var isSpreading = true
    while isSpreading {
      isSpreading = false
      for one in renames {
        guard let from = places[one.from], let to = places[one.to] else { continue }
        let isUnsure = ([one] + followed(by: one, parents: parents))
          .contains { other in
            lives.contains(Life(row: other.from, number: other.life))
              || places[other.from].map { histories[$0].isUnsure } ?? false
          }
        guard isUnsure, !histories[from].isUnsure || !histories[to].isUnsure else { continue }
        histories[from].isUnsure = true
        histories[to].isUnsure = true
        isSpreading = true
      }
    }
  }

  /// The new keys of rows that a row refers to by its own key, which it got with them.
  private func followed(by rename: Rename, parents: (RowID) -> [RowID]) -> [Rename] {
    let (former, next) = (parents(rename.from), parents(rename.to))
    if former.isEmpty { return [] }
    return renames.filter {
      $0.device == rename.device && former.contains($0.from) && next.contains($0.to)
    }
  }

  private func move(
    _ rename: Rename,
    from: Int,
    to: Int,
    in histories: inout [RowHistory]
  ) {
    histories[to].origins += [rename.from] + histories[from].origins
    // One of them is the change of the key.
    let ends = histories[from].deletions.filter { $0.life.map { $0 == rename.life } ?? true }
    if ends.count > 1 || histories[from].hasComeBack { histories[to].hasComeBack = true }
    for place in histories[from].edits.indices.reversed() {
      let (device, edit) = histories[from].edits[place]
      var changes: [RowEdit.Change] = []
      switch edit.change {
      case .set where !edit.isCaptured:
        // No trigger has told of which life it is: it may be of this one.
        changes = [edit.change]
      case .set, .added:
        guard edit.life == rename.life else { continue }
        changes = [edit.change]
        histories[from].moved.append(place)
      case .inserted(let values):
        guard edit.born == rename.life else { continue }
        changes = values.filter { $0.column != "born" && $0.column != "id" }
          .map { .set(column: $0.column, value: $0.value) }
        histories[from].carried.append(edit)
        strip(insertionAt: place, of: &histories[from])
      case .deleted, .deletedWithParent: continue
      }
      for change in changes {
        var copy = edit
        copy.row = rename.to
        copy.change = change
        copy.life = rename.born
        copy.origin = nil
        histories[to].edits.append((device: device, edit: copy))
      }
    }
    for place in histories[from].moved {
      // It stays where it is in the list, whose places are remembered, and sets nothing.
      histories[from].carried.append(histories[from].edits[place].edit)
      histories[from].edits[place].edit.change = .added(column: "", amount: 0)
    }
    histories[from].moved = []
  }

  /// Has an insertion tell no more than that a life begins: its columns are as old as they were before.
  private func strip(insertionAt place: Int, of history: inout RowHistory) {
    guard case .inserted(let values) = history.edits[place].edit.change else { return }
    history.edits[place].edit.change = .inserted(values.filter { $0.column == "born" })
    history.edits[place].edit.origin = nil
  }
}
