/// A record or an ID that the cloud would refuse whatever its state, found before it is queued.
public struct RecordRuleViolation: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Rule: Hashable, Sendable {
    /// The record lies in another zone than the session's.
    case zone(expected: ZoneID)
    /// The zone's name is not 1 to 255 ASCII characters without a leading underscore.
    case zoneName
    /// The record's name is not 1 to 255 ASCII characters without a leading underscore.
    case recordName
    /// The type is not a letter followed by letters, digits and underscores, 255 at most.
    case recordType
    /// The field's name is not a letter followed by letters, digits and underscores, 255 at most.
    case fieldName
    /// The parent breaks the rule of record names, or lies in another zone than the record.
    case parent
    /// The lists of the field are nested too deeply.
    case listDepth(limit: Int)
    /// The record occurs twice in one operation.
    case duplicate
    /// The record is too large.
    case size(byteCount: Int, limit: Int)
  }

  /// The record or zone, as it describes itself.
  public var subject: String
  /// The field, where the rule is one for fields.
  public var field: String?
  /// The rule that is broken.
  public var rule: Rule

  /// Creates a violation.
  public init(subject: String, field: String? = nil, rule: Rule) {
    self.subject = subject
    self.field = field
    self.rule = rule
  }

  init(duplicate recordID: RecordID) {
    self.init(subject: "\(recordID)", rule: .duplicate)
  }

  /// Tells whether two violations have the same bytes.
  public static func == (lhs: RecordRuleViolation, rhs: RecordRuleViolation) -> Bool {
    UTF8Bytes.equal(lhs.subject, rhs.subject) && UTF8Bytes.equal(lhs.field, rhs.field)
      && lhs.rule == rhs.rule
  }

  /// Names the record, the field and the rule, and says what to do.
  public var description: String {
    let place = field.map { "\(subject), field “\($0)”" } ?? subject
    return "\(place): \(advice)"
  }

  private var advice: String {
    let name = "1 to 255 ASCII characters, the first no underscore"
    let identifier =
      "an ASCII letter, then ASCII letters, digits and underscores, at most 255 in all"
    return switch rule {
    case .zone(let expected):
      "it lies in another zone than the session's; give it an ID in \(expected)"
    case .zoneName: "the zone has no valid name; choose \(name)"
    case .recordName: "the record has no valid name; choose \(name)"
    case .recordType: "the record type is not valid; choose \(identifier)"
    case .fieldName: "the field's name is not valid; choose \(identifier)"
    case .duplicate: "it occurs twice in one operation; give every record once"
    case .parent: "the parent must have a valid name and lie in the record's own zone"
    case .listDepth(let limit):
      "lists are nested more than \(limit) deep; make them flatter, or encode them as data"
    case .size(let byteCount, let limit):
      "it has \(byteCount) bytes where \(limit) are allowed; keep large values in assets"
    }
  }
}
