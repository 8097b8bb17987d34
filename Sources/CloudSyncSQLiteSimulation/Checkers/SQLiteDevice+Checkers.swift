package import CloudSyncSimulator

extension SQLiteDevice {
  package static func makeCheckers() -> sending [any SimulationChecker]? {
    [
      DatabaseChecker(), EqualityChecker(), RowEditChecker(), FoundValueChecker(), AbsenceChecker(),
      AnswerChecker(),
    ]
  }
}
