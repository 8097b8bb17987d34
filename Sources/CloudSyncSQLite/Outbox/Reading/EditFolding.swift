import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Turns the captured edits of one row into the edits that the row's machine takes.
///
/// The table has the newest values, so they go with the newest times. Kept columns have the values that were
/// captured, so that no addition to a counter is counted twice or lost, wherever a batch ends.
///
/// What a row held when it was deleted is captured of kept columns alone. Where edits win all are kept: a
/// deletion ends nothing then, so that edits before it are told one by one. Else they go with it.
struct EditFolding {
  /// How a value of the writable column at a place travels; whole where the table does not have it any more.
  typealias Encoding = (_ place: Int, SQLiteValue, _ isGone: Bool) -> FieldValue

  /// A writable column.
  private struct Column {
    var name: String
    var place: Int
    /// Its number in captured edits, and its place among kept ones.
    var number: Int?
    var kept: Int?
  }

  private let columns: [Column]
  private let encode: Encoding

  init(table: CapturedTable, encode: @escaping Encoding) {
    var numbers: [String: Int] = [:]
    for (number, column) in table.watched { numbers[column.name] = number }
    columns = table.schema.writableColumns.enumerated()
      .map { place, column in
        let kept = table.kept.firstIndex { $0 == column.name }
        return Column(name: column.name, place: place, number: numbers[column.name], kept: kept)
      }
    self.encode = encode
  }

  /// The row's edits.
  ///
  /// - Parameters:
  ///   - edits: The captured ones, in their order.
  ///   - present: The values of the writable columns, in their order; nil if there is no row.
  /// - Returns: Edits that give the row what it has, in the order of their times.
  func rowEdits(of edits: [CapturedEdit], present: [SQLiteValue]?) -> [RowEdit] {
    guard let present else {
      let last = edits.lastIndex { $0.change == .deleted || $0.change == .replaced }
      return last.map { ended(by: edits[...$0]) } ?? []
    }
    var result: [RowEdit] = []
    var rest = edits[...]
    let deletion = edits.lastIndex { $0.change == .deleted }
    if let deletion {
      result += ended(by: edits[...deletion])
      rest = edits[(deletion + 1)...]
    }
    if let insertion = rest.lastIndex(where: { $0.change == .inserted }) {
      // What comes before the first insertion was written over; after a deletion there was nothing.
      let first = rest.firstIndex { $0.change == .inserted } ?? insertion
      let before = deletion == nil ? rest[..<first] : []
      result.append(inserted(by: edits[insertion], before: before, present: present))
      rest = rest[(insertion + 1)...]
    }
    return result + updates(of: rest, present: present)
  }

  /// The edits of a row up to its deletion, which is the last one.
  private func ended(by edits: ArraySlice<CapturedEdit>) -> [RowEdit] {
    guard let last = edits.last else { return [] }
    let isAllKept = columns.allSatisfy { $0.kept != nil }
    let before = isAllKept ? edits.dropLast().flatMap { captured($0) } : birth(in: edits)
    return before + [.deleted(keptColumns(last.former, areGone: true), at: last.time)]
  }

  /// That a row was there before it was deleted: whether its engine has looked in between is chance, and its deletion
  /// ends other rows of its key in any case.
  private func birth(in edits: ArraySlice<CapturedEdit>) -> [RowEdit] {
    edits.last { $0.change == .inserted }.map { [.inserted([], at: $0.time)] } ?? []
  }

  /// An edit as it was captured, with nothing but the values that were.
  private func captured(_ edit: CapturedEdit) -> [RowEdit] {
    switch edit.change {
    case .inserted: return [.inserted(keptColumns(edit.values), at: edit.time)]
    case .deleted: return [.deleted(keptColumns(edit.former, areGone: true), at: edit.time)]
    case .replaced, .mismatched, .impending: return []
    case .updated(let bits):
      let edits = keptColumns(edit.values, before: edit.former) { column in
        column.number.map { bits.contains($0) } ?? false
      }
      let own = edits.filter { edit.cascadedColumns.contains($0.name) == false }
      let cascaded = edits.filter { edit.cascadedColumns.contains($0.name) }
      return [RowEdit.updated(own, at: edit.time), .updated(cascaded, at: .zero)]
        .filter { $0 != .updated([], at: edit.time) && $0 != .updated([], at: .zero) }
    }
  }

  /// Kept columns that the table has, with their values.
  private func keptColumns(
    _ values: [SQLiteValue],
    before former: [SQLiteValue] = [],
    areGone: Bool = false,
    where isMeant: (Column) -> Bool = { _ in true }
  ) -> [ColumnEdit] {
    columns.compactMap { column in
      guard let place = column.kept, place < values.count, isMeant(column) else { return nil }
      return ColumnEdit(
        name: column.name,
        value: field(of: column, values[place], isGone: areGone),
        former: place < former.count ? field(of: column, former[place]) : nil
      )
    }
  }

  private func field(of column: Column, _ value: SQLiteValue, isGone: Bool = false) -> FieldValue {
    encode(column.place, value, isGone)
  }

  private func inserted(
    by insertion: CapturedEdit,
    before: ArraySlice<CapturedEdit>,
    present: [SQLiteValue]
  ) -> RowEdit {
    let edits = zip(columns, present)
      // A column that was added since was not set by it.
      .filter { $0.0.number != nil }
      .map { column, value in
        let place = column.kept
        let formers = before.lazy.compactMap { place.flatMap($0.formerValue) }
        return ColumnEdit(
          name: column.name,
          value: field(of: column, place.flatMap(insertion.newValue) ?? value),
          former: formers.first.map { field(of: column, $0) }
        )
      }
    return .inserted(edits, at: insertion.time)
  }

  /// The columns by the time when each was changed last, but for kept ones, of which each change is told: a copy of
  /// the file may have read some of them, and what it has sent of them is to be known again.
  ///
  /// What SQLite has set because of a row that is referred to is just later than what it replaces, and than nothing else.
  private func updates(
    of edits: ArraySlice<CapturedEdit>,
    present: [SQLiteValue]
  ) -> [RowEdit] {
    let updates = edits.compactMap { edit in
      if case .updated(let bits) = edit.change { (edit: edit, bits: bits) } else { nil }
    }
    if updates.isEmpty { return [] }
    var byTime: [HybridTime: [ColumnEdit]] = [:]
    var cascaded: [HybridTime: [ColumnEdit]] = [:]
    let add = { (column: ColumnEdit, edit: CapturedEdit) in
      if edit.cascadedColumns.contains(column.name) {
        cascaded[edit.time, default: []].append(column)
      } else {
        byTime[edit.time, default: []].append(column)
      }
    }
    for (column, value) in zip(columns, present) {
      guard let number = column.number,
        let last = updates.last(where: { $0.bits.contains(number) })?.edit
      else { continue }
      guard let place = column.kept else {
        let edit = ColumnEdit(name: column.name, value: field(of: column, value))
        let made = updates.last {
          $0.bits.contains(number) && !$0.edit.cascadedColumns.contains(column.name)
        }
        if let made { add(edit, made.edit) }
        if made?.edit != last { add(edit, last) }
        continue
      }
      for (edit, bits) in updates where bits.contains(number) {
        // One that was captured before the column was kept tells no value.
        guard let new = edit.newValue(at: place) ?? (edit.time == last.time ? value : nil) else {
          continue
        }
        let former = edit.formerValue(at: place).map { field(of: column, $0) }
        add(ColumnEdit(name: column.name, value: field(of: column, new), former: former), edit)
      }
    }
    let made = byTime.map { (order: $0.key, edit: RowEdit.updated($0.value, at: $0.key)) }
    let followed = cascaded.map { (order: $0.key, edit: RowEdit.updated($0.value, at: .zero)) }
    return (made + followed).sorted { $0.order < $1.order }.map(\.edit)
  }
}

extension CapturedEdit {
  /// What a kept column held before; nil if that was not captured.
  fileprivate func formerValue(at place: Int) -> SQLiteValue? {
    place < former.count ? former[place] : nil
  }

  /// What a kept column held after; nil if that was not captured.
  fileprivate func newValue(at place: Int) -> SQLiteValue? {
    place < values.count ? values[place] : nil
  }
}
