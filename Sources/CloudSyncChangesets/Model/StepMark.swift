/// What commits of undo and redo say of themselves: a commit that was reverted by its name is neither undone nor redone.
package enum StepMark: String {
  case undo
  case redo

  /// The meta of such a commit.
  var meta: String { #"{"\#(rawValue)":true}"# }

  /// Which of them a commit is, by its meta; nil if it is another one.
  package init?(meta: String) {
    switch meta {
    case StepMark.undo.meta: self = .undo
    case StepMark.redo.meta: self = .redo
    default: return nil
    }
  }
}
