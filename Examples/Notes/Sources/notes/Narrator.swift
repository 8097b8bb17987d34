import CloudSyncSession

/// Prints what a session announces, one line each.
enum Narrator {
  static func listen(to session: CloudSyncSession) {
    session.eventsPublisher.sink { record in
      let cause = record.cause.map { " because of #\($0)" } ?? ""
      let answered = record.event.attempt.map { " to attempt \($0)" } ?? ""
      Output.line(
        "event #\(record.sequence) \(record.event.name)\(answered) (\(record.origin)\(cause))"
      )
    }
    session.fetchWorkCompletedSubject.sink { operation, page in
      let counts = "\(page.changedRecords.count) changed, \(page.deletedRecords.count) deleted"
      let end = page.isLast ? ", the last one of fetch \(operation.id)" : ""
      let start = page.startedOver ? ", of a fetch of everything" : ""
      Output.line("page \(page.page.number): \(counts)\(start)\(end)")
    }
    session.modifyWorkCompletedSubject.sink { operation, response in
      let saved = response.savedRecords.map { "saved \($0.recordID.name)" }
      let deleted = response.deletedRecordIDs.map { "deleted \($0.name)" }
      let parked = response.failures.map { "parked \($0.recordID.name) (\($0.error))" }
      Output.line(
        "completed \(operation.id): \((saved + deleted + parked).joined(separator: ", "))"
      )
    }
    session.workFailedSubject.sink { work, error in Output.line("failed \(work.mode): \(error)") }
    session.parkedSubject.sink { change in Output.line("parked before: \(change.line)") }
    session.haltedSubject.sink { error in
      if let error { Output.line("halted: \(error)") }
    }
    session.zoneSubject.sink { zone in Output.line("zone: \(zone.line)") }
    session.progressSubject.sink { progress in
      Output.line(
        "progress: \(progress.done) of \(progress.submitted) sent, "
          + "\(progress.fetchedRecords) fetched"
      )
    }
  }
}

extension ZoneState {
  fileprivate var line: String {
    switch self {
    case .unknown: "unknown"
    case .creating: "being created"
    case .ready: "ready"
    case .lost(let loss): "lost (\(loss))"
    case .refused(let error): "refused (\(error))"
    }
  }
}

extension ParkedChange {
  fileprivate var line: String {
    switch self {
    case .saved(let record): "\(record.recordID.name) is saved now"
    case .alreadyInCloud(let record): "\(record.recordID.name) was in the cloud already"
    case .deleted(let recordID): "\(recordID.name) is deleted now"
    case .refused(let recordID, let error): "\(recordID.name) was refused again (\(error))"
    case .dropped(let recordID, let error): "\(recordID.name) was dropped (\(error))"
    }
  }
}
