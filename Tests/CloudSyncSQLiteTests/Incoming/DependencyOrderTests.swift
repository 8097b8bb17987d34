import Testing

@testable import CloudSyncSQLite

@Suite("The order in which rows are written")
struct DependencyOrderTests {
  private func node(
    _ name: String,
    rank: Int = 0,
    of parents: [String] = []
  ) -> DependencyOrder.Node {
    DependencyOrder.Node(name: name, rank: rank, parents: parents)
  }

  private func deleted(_ name: String, rank: Int = 0) -> DependencyOrder.Node {
    DependencyOrder.Node(name: name, rank: rank, parents: [], isDeleted: true)
  }

  @Test("Parents come first, whatever came first, and each in its order")
  func parentsFirst() {
    let nodes = [
      node("n1", rank: 1, of: ["l2"]), node("l1"), node("n2", rank: 1, of: ["l1"]), node("l2"),
    ]
    let order = DependencyOrder(nodes) { _ in false }
    #expect(order.ready == [1, 3, 0, 2])
    #expect(order.waiting.isEmpty)
  }

  @Test("Who misses a parent waits, and so do all who refer to who waits")
  func waiting() {
    let nodes = [
      node("c", rank: 2, of: ["b"]), node("b", rank: 1, of: ["a"]),
      node("d", rank: 1, of: ["there"]),
      node("e", rank: 2, of: ["d", "c"]),
    ]
    let order = DependencyOrder(nodes) { $0 == "there" }
    #expect(order.ready == [2])
    #expect(order.waiting.map(\.place) == [0, 1, 3])
    #expect(order.waiting.map(\.parent) == ["b", "a", "c"])
  }

  @Test("Rows in a circle are written together, unless one of them has to wait")
  func circles() {
    let circle = [node("a", of: ["b"]), node("b", of: ["a"]), node("self", of: ["self"])]
    #expect(DependencyOrder(circle) { _ in false }.ready == [0, 1, 2])
    let broken = [node("a", of: ["b"]), node("b", of: ["a", "x"])]
    let order = DependencyOrder(broken) { _ in false }
    #expect(order.ready.isEmpty)
    #expect(order.waiting.map(\.parent) == ["b", "x"])
  }

  @Test("A row that goes is no parent any more, and goes after its children")
  func deletions() {
    let nodes = [
      deleted("l", rank: 0), deleted("n", rank: 1), node("m", rank: 1, of: ["l"]), node("k"),
    ]
    // The table still has the row, which is about to go.
    let order = DependencyOrder(nodes) { _ in true }
    #expect(order.ready == [3, 1, 0])
    #expect(order.waiting.map(\.place) == [2])
    #expect(order.waiting.map(\.parent) == ["l"])
  }

  @Test("A chain of thousands is sorted at once")
  func chains() {
    let count = 20_000
    let nodes = (0..<count).map { node("\($0)", of: ["\($0 + 1)"]) }
    #expect(DependencyOrder(nodes) { _ in true }.ready.count == count)
    #expect(DependencyOrder(nodes) { _ in false }.waiting.count == count)
  }
}
