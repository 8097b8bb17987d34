public import CloudSyncCore

extension SessionScript {
  /// Cuts the script down to one that still ends in the same error.
  ///
  /// Calls, answers, decisions, records, fields and waits are taken away, larger parts before smaller
  /// ones, as long as the run still ends so; what remains is short, and every part of it is needed by
  /// itself. The same script is always cut down to the same one. Of a script that ends in no error
  /// nothing remains.
  ///
  /// - Parameters:
  ///   - finalError: The error to end in, as ``Outcome/finalError`` tells it.
  ///   - runLimit: How many runs it may take; with fewer the script stays longer.
  ///   - middleware: Middleware of the app's own, to be appended to the session's.
  /// - Returns: The shortened script, or this one if it ends in another error.
  public func shortened(
    keeping finalError: SyncError.Code?,
    runLimit: Int = 2_000,
    middleware: [any Middleware] = []
  ) -> SessionScript {
    var shortening = ScriptShortening(
      self,
      finalError: finalError,
      middleware: middleware,
      runsLeft: runLimit
    )
    return shortening.result()
  }
}

/// A script while it is cut down.
private struct ScriptShortening {
  private var best: SessionScript
  private let finalError: SyncError.Code?
  private let middleware: [any Middleware]
  private var runsLeft: Int

  init(
    _ script: SessionScript,
    finalError: SyncError.Code?,
    middleware: [any Middleware],
    runsLeft: Int
  ) {
    best = script
    self.finalError = finalError
    self.middleware = middleware
    self.runsLeft = runsLeft
  }

  mutating func result() -> SessionScript {
    let limit = best.eventLimit
    guard let eventCount = eventCount(of: best) else { return best }
    // Less work must not take more events; a script that does has begun to go round in circles.
    best.eventLimit = min(limit, 2 * eventCount + 1_000)
    var last: SessionScript
    repeat {
      last = best
      removeEntries()
      removeItems()
      simplify()
    } while best != last && runsLeft > 0
    best.eventLimit = limit
    return best
  }

  // MARK: Trying

  /// How many events a script takes to end as wanted; nil if it does not.
  private mutating func eventCount(of script: SessionScript) -> Int? {
    guard runsLeft > 0 else { return nil }
    runsLeft -= 1
    do {
      let outcome = try script.run(middleware: middleware)
      return outcome.finalError == finalError && !outcome.isCutOff ? outcome.eventCount : nil
    } catch {
      // What cannot be run does not end as wanted.
      return nil
    }
  }

  @discardableResult
  private mutating func attempt(with candidate: SessionScript) -> Bool {
    guard candidate != best, eventCount(of: candidate) != nil else { return false }
    best = candidate
    return true
  }

  /// Changes parts of the script as long as it ends as wanted: first all of them at once, then halves,
  /// quarters and so on.
  private mutating func cut(
    by count: (SessionScript) -> Int,
    change: (inout SessionScript, Range<Int>) -> Void
  ) {
    var size = count(best)
    while size > 0 {
      var start = 0
      while start < count(best), runsLeft > 0 {
        let before = count(best)
        var candidate = best
        change(&candidate, start..<min(start + size, before))
        if !attempt(with: candidate) || count(best) == before { start += size }
      }
      size /= 2
    }
  }

  private mutating func remove<Part>(from parts: WritableKeyPath<SessionScript, [Part]>) {
    cut(by: { $0[keyPath: parts].count }) { $0[keyPath: parts].removeSubrange($1) }
  }

  // MARK: Cutting

  private mutating func removeEntries() {
    remove(from: \.calls)
    remove(from: \.answers)
    cut(by: { $0.answers.count }) { script, range in
      for place in range { script.answers[place].content = .done }
    }
    remove(from: \.decisions)
    remove(from: \.accountAnswers)
  }

  /// Removes records, items of responses, and fields.
  private mutating func removeItems() {
    cut(by: Self.itemCount) { script, range in
      var place = -1
      let walk = ScriptWalk(keepsItem: {
        place += 1
        return !range.contains(place)
      })
      script = walk(over: script)
    }
    cut(by: Self.fieldCount) { script, range in
      var place = -1
      let walk = ScriptWalk(record: { record in
        var result = record
        for field in record.fields {
          place += 1
          if range.contains(place) { result[field.name] = .none }
        }
        return result
      })
      script = walk(over: script)
    }
  }

  private static func itemCount(of script: SessionScript) -> Int {
    var count = 0
    let walk = ScriptWalk(keepsItem: {
      count += 1
      return true
    })
    _ = walk(over: script)
    return count
  }

  private static func fieldCount(of script: SessionScript) -> Int {
    var count = 0
    let walk = ScriptWalk(record: { record in
      count += record.fields.count
      return record
    })
    _ = walk(over: script)
    return count
  }

  // MARK: Simplifying

  private mutating func simplify() {
    simplifyRecordsAndErrors()
    cut(by: { $0.calls.count }) { script, range in
      for place in range { script.calls[place].dropNames() }
    }
    cut(by: { $0.answers.count }) { script, range in
      for place in range { script.answers[place].delay = .zero }
    }
    cut(by: { $0.accountAnswers.count }) { script, range in
      for place in range { script.accountAnswers[place].delay = .zero }
    }
    cut(by: { $0.calls.count }) { script, range in
      let time = range.lowerBound == 0 ? .zero : script.calls[range.lowerBound - 1].time
      for place in range { script.calls[place].time = time }
    }
    cut(by: { $0.calls.count }) { script, range in
      for place in range { script.calls[place].isSettled = false }
    }
    var candidate = best
    candidate.duration = nil
    attempt(with: candidate)
    candidate = best
    candidate.nonces = [1]
    attempt(with: candidate)
    candidate = best
    candidate.time = Timestamp(nanoseconds: 0)
    attempt(with: candidate)
    if case .new(let zoneID, _) = best.beginning {
      candidate = best
      candidate.beginning = .new(zoneID, SyncConfiguration())
      attempt(with: candidate)
    }
  }

  private mutating func simplifyRecordsAndErrors() {
    attempt(
      with: ScriptWalk(record: { record in
        var record = record
        record.encryptedKeys = []
        record.parent = nil
        record.share = nil
        record.creationDate = nil
        record.modificationDate = nil
        return record
      })(over: best)
    )
    attempt(with: ScriptWalk(record: { $0.withChangeTag(nil) })(over: best))
    let changes: [(inout SyncError) -> Void] = [
      { $0.message = "" }, { $0.clientRecord = nil }, { $0.ancestorRecord = nil },
      { $0.serverRecord = nil }, { $0.retryAfter = nil },
    ]
    for change in changes {
      attempt(
        with: ScriptWalk(error: { error in
          var error = error
          change(&error)
          return error
        })(over: best)
      )
    }
  }
}

extension SessionScript.Entry {
  /// Takes away what only the app reads, and the ancestors.
  fileprivate mutating func dropNames() {
    guard case .modify(let operation, let number) = call else { return }
    call = .modify(
      ModifyOperation(
        records: operation.records,
        recordIDsToDelete: operation.recordIDsToDelete
      ),
      as: number
    )
  }
}
