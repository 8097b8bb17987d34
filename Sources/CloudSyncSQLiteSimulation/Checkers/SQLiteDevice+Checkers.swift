package import CloudSyncSimulator

extension SQLiteDevice {
  package static var sharesGate: Bool { true }

  package static func makeCheckers() -> sending [any SimulationChecker]? {
    [
      DatabaseChecker(), EqualityChecker(), RowEditChecker(), FoundValueChecker(), AbsenceChecker(),
      AnswerChecker(), LocalValueChecker(),
    ]
  }
}
