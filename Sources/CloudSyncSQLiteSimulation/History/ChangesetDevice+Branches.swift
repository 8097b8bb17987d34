import CloudSyncChangesets
import CloudSyncSimulator

extension ChangesetDevice {
  /// Begins a branch of the user's own, or merges all other users' into it: each takes the others' in an order of its own,
  /// and what two branches have in common are the heads of several more.
  func mergeBranches(
    repository: ChangesetRepository,
    choice: Int
  ) throws(ChangesetError) {
    guard hasOwnBranches, !putsAnswersOff else { return }
    let name = "own-\(setup.number)"
    try repository.commit()
    let names = try repository.branches().map(\.name)
    if try repository.head().branch != name {
      if !names.contains(name) { try repository.createBranch(name) }
      _ = try repository.mergeAll(name)
      return try repository.switchBranch(name)
    }
    let others = names.filter { $0.hasPrefix("own-") && $0 != name }
    _ = try repository.mergeAll()
    _ = try repository.pull()
    for place in others.indices {
      let other = others[(place + choice) % others.count]
      _ = try repository.mergeAll(other)
      _ = try repository.merge(other)
    }
    _ = try repository.pull()
  }
}
