import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Foundation
import Testing

@Suite("LocalCloud: change tokens that it has not given")
struct ForgedTokenTests {
  private func zone(_ kind: StoreKind = .memory, first: UInt64 = 1) throws -> Device {
    let numbers = Locked(SplitMix64(seed: first))
    let world = CloudWorld(store: try kind.makeStore(), nonce: { numbers.withLock { $0.next() } })
    let device = try world.device()
    for number in 0..<3 { try device.save(device.note("r\(number)")) }
    return device
  }

  @Test("A token with any bit changed, cut or longer is refused", arguments: StoreKind.allCases)
  func changed(kind: StoreKind) throws {
    let device = try zone(kind)
    let bytes = try #require(try device.fetch().get().changeToken).bytes
    var forged: [Data] = []
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        forged.append(changed)
      }
      if place > bytes.startIndex { forged.append(bytes[..<place]) }
    }
    forged += [bytes + [0], bytes + bytes, Data(repeating: 0, count: 10_000)]
    for bytes in forged {
      #expect(device.fetch(ChangeToken(bytes)).error?.code == .invalidArguments)
    }
    #expect(device.fetch(ChangeToken(bytes)).error == nil)
  }

  @Test("A store knows no token of another one with the same contents, accounts and zones")
  func otherStore() throws {
    let (one, other) = (try zone(first: 1), try zone(first: 2))
    let token = try one.fetch().get().changeToken

    #expect(other.fetch(token).error?.code == .invalidArguments)
  }

  @Test(
    "Tokens do not show what is in them: of one position there are equal ones, of others unlike ones"
  )
  func shuffled() throws {
    let device = try zone()
    let first = try #require(try device.fetch().get().changeToken).bytes
    #expect(try device.fetch().get().changeToken?.bytes == first)
    try device.save(device.note("r4"))
    let next = try #require(try device.fetch().get().changeToken).bytes
    let same = zip(first, next).filter { $0 == $1 }.count
    #expect(same < first.count / 3, "\(same) of \(first.count) bytes are the same")
  }
}
