import Foundation

/// The bytes of a report, searched as bytes: comparing its characters would take minutes.
struct PageBytes {
  let bytes: [UInt8]

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Where a text begins at or after a place, nil if nowhere.
  func place(of text: String, from start: Int = 0) -> Int? {
    let wanted = Array(text.utf8)
    guard let first = wanted.first else { return nil }
    return bytes.withUnsafeBytes { all in
      guard let base = all.baseAddress else { return nil }
      var place = start
      while place + wanted.count <= all.count,
        let found = memchr(base + place, Int32(first), all.count - place)
      {
        place = UnsafeRawPointer(found) - base
        if place + wanted.count <= all.count, memcmp(found, wanted, wanted.count) == 0 {
          return place
        }
        place += 1
      }
      return nil
    }
  }

  func count(of text: String) -> Int {
    var count = 0
    var start = 0
    while let place = place(of: text, from: start) {
      count += 1
      start = place + text.utf8.count
    }
    return count
  }

  func contains(_ text: String) -> Bool { place(of: text) != nil }

  /// What lies between two texts, wherever they follow one another.
  func parts(from first: String, to last: String) -> [PageBytes] {
    var parts: [PageBytes] = []
    var start = 0
    while let place = place(of: first, from: start) {
      let begin = place + first.utf8.count
      let end = self.place(of: last, from: begin) ?? bytes.count
      parts.append(PageBytes(bytes[begin..<end]))
      start = end
    }
    return parts
  }

  /// The contents of the data blocks of a kind.
  func blocks(of kind: String) -> [PageBytes] {
    parts(from: "data-block=\"\(kind)\"", to: "</script>")
      .map { part in
        PageBytes(part.bytes.drop { $0 != UInt8(ascii: ">") }.dropFirst())
      }
  }

  func replacing(_ part: String, with other: String) -> PageBytes {
    var result: [UInt8] = []
    var start = 0
    while let place = place(of: part, from: start) {
      result += bytes[start..<place]
      result += other.utf8
      start = place + part.utf8.count
    }
    return PageBytes(result + bytes[start...])
  }
}
