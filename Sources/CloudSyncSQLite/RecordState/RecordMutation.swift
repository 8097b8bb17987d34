#if DEBUG
/// A mistake that is put into the machine of rows, to show that a simulation finds it.
///
/// It is of debug builds, and of the task that has set it.
enum RecordMutation {
  typealias Reduce = @Sendable (inout RecordState, RecordEvent, RowRules) -> [RecordAction]

  /// What happens instead of ``RecordState/reduceSoundly(_:rules:)``; nil if nothing is wrong.
  @TaskLocal static var reduce: Reduce?

  /// Whether what SQLite writes because a key has changed is taken for an edit of that moment.
  @TaskLocal static var takesCascadesAsEdits = false
}
#endif
