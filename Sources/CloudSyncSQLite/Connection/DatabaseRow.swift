public import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A row of a query's result: ``DatabaseFile/query(_:_:)``.
///
/// ```swift
/// for row in try database.query("SELECT id, title FROM notes WHERE list = ?", ["l1"]) {
///   print(row.string("title") ?? "untitled")
/// }
/// ```
public struct DatabaseRow: Sendable, Hashable {
  /// The names of the columns, as the query calls them.
  public let columns: [String]
  /// The values, in the order of the columns; `FieldValue.null` where there is none.
  public let values: [FieldValue]

  /// The value of the first column of a name, in whatever case; nil if there is no such column.
  public subscript(_ column: String) -> FieldValue? {
    columns.firstIndex { $0.isSameName(as: column) }.map { values[$0] }
  }

  /// A column's text; nil if it holds none.
  public func string(_ column: String) -> String? { self[column]?.stringValue }
  /// A column's whole number; nil if it holds none.
  public func int64(_ column: String) -> Int64? { self[column]?.int64Value }
  /// A column's number, also a whole one; nil if it holds none.
  public func double(_ column: String) -> Double? {
    self[column].flatMap { value in value.doubleValue ?? value.int64Value.map { Double($0) } }
  }
  /// A column's BLOB; nil if it holds none.
  public func data(_ column: String) -> Data? { self[column]?.dataValue }
}

extension DatabaseRow: CustomStringConvertible {
  /// The columns with their values, in their order.
  public var description: String {
    let pairs = zip(columns, values).map { "\($0): \($1.debugDescription)" }
    return "[\(pairs.joined(separator: ", "))]"
  }
}
