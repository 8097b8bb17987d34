import CloudSyncCore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("FieldValue.description")
struct FieldValueDescriptionTests {
  @Test("Values are printed as people write them; in a list texts have quotes")
  func values() {
    let values: [FieldValue] = ["Buy milk", 42, 2.5, .null, .data(Data([1]))]
    #expect(values.map { "\($0)" } == ["Buy milk", "42", "2.5", "NULL", "(1 byte)"])
    #expect("\(values)" == #"["Buy milk", 42, 2.5, NULL, (1 byte)]"#)
    #expect("\(FieldValue.list(["a", 1]))" == #"["a", 1]"#)
    #expect("\(FieldValue.timestamp(Timestamp(nanoseconds: 0)))".hasPrefix("1970-01-01 00:00:00"))
  }
}
