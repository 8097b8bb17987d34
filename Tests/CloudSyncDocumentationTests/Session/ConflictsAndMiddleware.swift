import CloudSyncSession
import Testing

enum ConflictsSamples {
  static func bothTexts(_ client: FieldValue, _ server: FieldValue?) -> FieldValue {
    server ?? client
  }

  static func resolver() -> ConflictResolver {
    // SAMPLE: CloudSyncCore/Conflicts.md
    let resolver = ConflictResolver.fieldwise([
      "likes": .counterSum,
      "tags": .setUnion,
      "readUpTo": .maximum,
      "text": .custom { client, server, ancestor in bothTexts(client, server) },
    ])
    // SAMPLE: end
    return resolver
  }
}

// SAMPLE: CloudSyncCore/WritingMiddleware.md
struct Counting: Middleware {
  let count: @Sendable (String) -> Void

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced = next(event)
    count(reduced.name)
    return reduced
  }
}
// SAMPLE: end
