import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Foundation
import Testing

@Suite("ValueCodec")
struct ValueCodecTests {
  static let values: [SQLiteValue] = [
    .null, .integer(.min), .integer(0), .integer(.max), .real(-0.0), .real(0), .real(.infinity),
    .real(-.infinity), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .text(""),
    .text("é"),
    .text("e\u{301}"), .text("日本語 🗓️"), .text("a\u{0}b"), .text("\u{0}"), .malformedText([0xff]),
    .malformedText([0xff, 0, 0x41]), .blob([]), .blob([0]), .blob([0xff, 0, 0x41]),
  ]

  @Test("Every value comes back exactly as it was", arguments: values)
  func roundTrip(value: SQLiteValue) throws {
    guard case .field(let field) = ValueCodec.encode(value, assetThreshold: 100) else {
      Issue.record("\(value) became an asset")
      return
    }

    #expect(ValueCodec.decode(field) == .value(value))
  }

  @Test("Different values have different forms")
  func injective() {
    for (index, one) in Self.values.enumerated() {
      for other in Self.values[(index + 1)...] {
        let forms = [one, other].map { ValueCodec.encode($0, assetThreshold: 100) }
        #expect(forms[0] != forms[1], "\(one) and \(other)")
      }
    }
  }

  @Test("A BLOB becomes an asset over the threshold, and other values never do")
  func assets() {
    let blob = SQLiteValue.blob([1, 2, 3])

    #expect(ValueCodec.encode(blob, assetThreshold: 3) == .field(.data(Data([1, 2, 3]))))
    #expect(ValueCodec.encode(blob, assetThreshold: 2) == .asset([1, 2, 3]))
    #expect(ValueCodec.encode(.text("long"), assetThreshold: 0) == .field("long"))
    #expect(ValueCodec.encode(.blob([]), assetThreshold: 0) == .field(.data(Data())))
  }

  @Test("Values that no column can hold are refused, and a NaN is NULL")
  func foreign() {
    #expect(ValueCodec.decode(.timestamp(Timestamp(nanoseconds: 1))) == nil)
    #expect(ValueCodec.decode(["a"]) == nil)
    #expect(ValueCodec.decode(.list([])) == nil)
    #expect(ValueCodec.decode(.double(.nan)) == .value(.null))
  }

  @Test("SHA-256 gives the digests of the standard's examples, at every length of the padding")
  func digest() {
    let text = { (bytes: [UInt8]) in
      bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    }
    let abc = SHA256.digest(of: Array("abc".utf8))
    let million = SHA256.digest(of: Array(repeating: UInt8(ascii: "a"), count: 1_000_000))

    #expect(text(abc) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      text(SHA256.digest(of: []))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    #expect(text(million) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    let lengths = (50...70).map { SHA256.digest(of: Array(repeating: 0, count: $0)) }
    #expect(Set(lengths).count == lengths.count)
  }
}
