public import CloudSyncCore

/// Waits for changes that other devices make, by long polls of the service's courier.
///
/// ```swift
/// let pushes = WebServicesPushes(client: client) { engine.fetchChanges() }
/// pushes.start()
/// ```
///
/// Whatever the courier says means that something may have changed. It may say nothing of what happened while it was
/// not listened to: after every gap, and after five minutes without a word, that is taken for a change too.
public final class WebServicesPushes: Sendable {
  /// How long nothing may be heard before something may have changed.
  private static let longestSilence = Duration.seconds(300)
  /// How long one poll may take: longer than any service keeps it.
  private static let pollTimeout = Duration.seconds(120)
  /// How long an address is used: services keep it for longer.
  private static let addressLifetime = Duration.seconds(600)
  private static let firstWait = Duration.seconds(1)
  private static let longestWait = Duration.seconds(60)

  private let client: WebServicesClient
  private let now: @Sendable () -> Timestamp
  private let pause: @Sendable (Duration) async -> Void
  private let onChange: @Sendable () -> Void
  private let task = Locked<Task<Void, Never>?>(nil)
  private let lastError = Locked<SyncError?>(nil)
  private let hasRun = Locked(false)

  /// Creates what waits; ``start()`` begins it.
  ///
  /// - Parameters:
  ///   - client: The account's client.
  ///   - now: The clock.
  ///   - onChange: Called when something may have changed; on any thread, one call at a time.
  public convenience init(
    client: WebServicesClient,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.init(
      client: client,
      now: now,
      // It ends early when it is cancelled, which is asked for anyway.
      pause: { try? await Task.sleep(for: $0) },
      onChange: onChange
    )
  }

  package init(
    client: WebServicesClient,
    now: @escaping @Sendable () -> Timestamp,
    pause: @escaping @Sendable (Duration) async -> Void,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.client = client
    self.now = now
    self.pause = pause
    self.onChange = onChange
  }

  deinit { task.withLock { $0 }?.cancel() }

  /// Why nothing can be heard at the moment; nil if all is well.
  public var problem: SyncError? { lastError.withLock { $0 } }

  /// Begins to wait; nothing happens if it does already.
  ///
  /// After ``stop()`` something may have changed meanwhile: that is told at once.
  public func start() {
    task.withLock { task in
      if task != nil { return }
      let isAgain = hasRun.withLock { hasRun in
        defer { hasRun = true }
        return hasRun
      }
      task = Task { [client, now, pause, onChange, lastError] in
        await Self.run(
          client: client,
          now: now,
          pause: pause,
          note: lastError,
          afterGap: isAgain,
          onChange: onChange
        )
      }
    }
  }

  /// Ends the waiting; ``start()`` begins it anew.
  public func stop() {
    let running = task.withLock { task in
      defer { task = nil }
      return task
    }
    running?.cancel()
  }

  /// Waits until it is cancelled.
  private static func run(
    client: WebServicesClient,
    now: @Sendable () -> Timestamp,
    pause: @Sendable (Duration) async -> Void,
    note: Locked<SyncError?>,
    afterGap: Bool,
    onChange: @Sendable () -> Void
  ) async {
    var wait = firstWait
    var hasGap = afterGap
    while !Task.isCancelled {
      do throws(SyncError) {
        let deadline = now().adding(pollTimeout)
        let address = try await client.perform(
          .courier(environment: client.environment),
          deadline: deadline
        )
        note.withLock { $0 = nil }
        if hasGap { onChange() }
        hasGap = false
        // The address is asked for anew while it is still good.
        let renewal = now().adding(addressLifetime)
        var last = now()
        while !Task.isCancelled, now() < renewal {
          let begun = now()
          let isChange = try await client.poll(address, deadline: begun.adding(pollTimeout))
          wait = firstWait
          if isChange || last.adding(longestSilence) <= now() {
            last = now()
            onChange()
          }
          // A service that says nothing, and that at once, would be asked without end.
          if !isChange, now() < begun.adding(firstWait) { await pause(firstWait) }
        }
      } catch {
        if Task.isCancelled { return }
        note.withLock { $0 = error }
        hasGap = true
        let asked = Duration.nanoseconds(error.retryAfterNanoseconds ?? 0)
        await pause(max(wait, min(asked, .seconds(3_600))))
        wait = min(wait * 2, longestWait)
      }
    }
  }
}

extension WebServicesClient {
  /// Waits at a courier's address; returns whether something has changed.
  fileprivate func poll(_ address: String, deadline: Timestamp) async throws(SyncError) -> Bool {
    guard let place = place(of: address) else {
      throw SyncError(.networkFailure, "the service names an address that is not its own")
    }
    return try await !transfer("GET", to: place, deadline: deadline).isEmpty
  }
}
