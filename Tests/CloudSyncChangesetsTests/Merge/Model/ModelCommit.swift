/// A set of small numbers.
struct NumberSet: Hashable {
  private var words: [UInt64] = []

  func contains(_ number: Int) -> Bool {
    number >> 6 < words.count && words[number >> 6] >> UInt64(number & 63) & 1 == 1
  }

  mutating func insert(_ number: Int) {
    while words.count <= number >> 6 { words.append(0) }
    words[number >> 6] |= 1 << UInt64(number & 63)
  }

  mutating func formUnion(_ other: NumberSet) {
    while words.count < other.words.count { words.append(0) }
    for place in other.words.indices { words[place] |= other.words[place] }
  }

  func intersection(_ other: NumberSet) -> NumberSet {
    var result = NumberSet()
    result.words = (0..<min(words.count, other.words.count)).map { words[$0] & other.words[$0] }
    return result
  }

  var members: [Int] {
    words.indices.flatMap { place in
      (0..<64).compactMap { words[place] >> UInt64($0) & 1 == 1 ? place * 64 + $0 : nil }
    }
  }
}

/// A cell of the model: its value, when it was set, and which commit wrote it.
struct ModelCell {
  var value: Int
  var time: Int
  var writer: Int
  /// Whether the writer, a merge, has found the value there and only made it newer.
  var isNewerOnly = false
}

/// All rows of a small table by number; nil where there is none.
typealias ModelState = [[ModelCell]?]

/// A commit of the model, with all of its state.
final class ModelCommit {
  /// Of its history; virtual commits have numbers too.
  let number: Int
  let id: UInt64
  /// The first is the data parent.
  let parents: [ModelCommit]
  let generation: Int
  /// Of a merge the latest of its parents' times.
  let time: Int
  let isMerge: Bool
  let state: ModelState
  /// The numbers of all commits that it descends from, and its own unless it is virtual.
  let ancestors: NumberSet

  init(
    number: Int,
    id: UInt64,
    parents: [ModelCommit],
    time: Int,
    isMerge: Bool,
    isVirtual: Bool = false,
    state: ModelState
  ) {
    self.number = number
    self.id = id
    self.parents = parents
    self.time = time
    self.isMerge = isMerge
    self.state = state
    generation = 1 + (parents.map(\.generation).max() ?? 0)
    var ancestors = NumberSet()
    for parent in parents { ancestors.formUnion(parent.ancestors) }
    if !isVirtual { ancestors.insert(number) }
    self.ancestors = ancestors
  }

  /// Whether a commit is on the path of data parents from this one to the root.
  func isBuilt(on writer: Int) -> Bool {
    var commit: ModelCommit? = self
    while let one = commit {
      if one.number == writer { return true }
      commit = one.parents.first
    }
    return false
  }

  /// In the order in which bases and heads are merged.
  func precedes(_ other: ModelCommit) -> Bool {
    generation != other.generation ? generation < other.generation : id < other.id
  }
}

extension [ModelCell]? {
  /// Whether two rows hold the same.
  func isSame(as other: [ModelCell]?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let mine?, let other?): mine.map(\.value) == other.map(\.value)
    default: false
    }
  }
}
