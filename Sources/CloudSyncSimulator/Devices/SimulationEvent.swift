public import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that happens in a simulation, on one of its devices.
public enum SimulationEvent: Sendable {
  /// The device has taken edits of the user's.
  case edited([DeviceEdit])
  /// The app was launched.
  case launched(CloudSyncSession)
  /// The app was killed, after its session had reduced an event.
  ///
  /// `archive` is what the device has stored of the session, `state` what that must come to.
  case killed(archive: Data?, state: SyncState?, isTorn: Bool)
  /// The session has called its handler.
  case called(SyncWork, RequestContext)
  /// The session has given a call up.
  case cancelled(Attempt)
  /// The handler has answered a call.
  case answered(SyncWork, RequestContext, Result<SyncWork.Result, SyncError>)
  /// The cloud has answered a request, whatever becomes of the response.
  case carriedOut(SyncWork, RequestContext, Result<SyncWork.Result, SyncError>)
  /// The session has reduced an event; what came in from outside is told too, if it did.
  case event(EventRecord, input: SyncEvent?, SyncState)
  /// The session has told the app that it has taken a modification.
  case accepted(ModifyOperation)
  /// The session has announced how far the present run of work has come.
  case progress(SyncProgress)
  /// The session has announced the end of a modification.
  case completed(ModifyOperation, ModifyOperation.Response)
  /// The session has announced a page.
  case page(FetchOperation, FetchOperation.Response)
  /// The session has announced that an operation has failed.
  case failed(SyncWork, SyncError)
  /// The session has announced what became of a parked record.
  case parked(ParkedChange)
  /// The account's provider has answered.
  case accountTold(AccountStatus, AccountIdentity?)
  /// The device's clock was set, forward or back.
  case clockSet(by: Duration)
  /// The system has suspended the app: nothing of it runs.
  case suspended
  /// A suspended app goes on.
  case resumed
  /// The app has begun to wait for its session.
  case waits(WaitingCall)
  /// What the app has waited for has come, or its time is over.
  case waited(WaitingCall, WaitingCall.Outcome)
  /// Another session of the app, which shares the device's gate, has called its handler.
  case siblingCalled(SyncWork)
  /// That session was asked to wait.
  case siblingAsked(toWait: Duration)
  /// The zone is gone.
  case zoneLost
  /// A backup of the cloud was put back: what was changed since is lost there.
  case storeRestored
  /// Somebody has removed a record from the cloud with another tool.
  case recordRemoved(RecordID)
  /// The device goes on with a copy of what another one has stored.
  case copied(from: Int)
}

/// What a simulation has come to.
public struct SimulationEnd: Sendable {
  /// A device at the end.
  public struct Device: Sendable {
    /// The device itself.
    public var device: any SimulatedDevice
    /// What the user sees.
    public var contents: [DeviceRecord]
    /// The state of its session; nil if the app does not run.
    public var state: SyncState?
    /// What keeps the session from being at rest; nil if nothing does.
    public var pendingReason: String?
  }

  /// The devices in order.
  public var devices: [Device]
  /// What the cloud has, sorted by name.
  public var cloud: [DeviceRecord]
  /// The records that the cloud has, sorted by name.
  public var records: [Record]
  /// Whether everything came to rest in time.
  public var isQuiet: Bool
}

/// Something that must always hold, watched through a simulation.
///
/// A checker keeps what it needs to know by itself, and takes constant time for an event: a
/// simulation has thousands.
public protocol SimulationChecker: AnyObject {
  /// What must hold, in one sentence.
  var rule: String { get }

  /// Takes what happens on a device.
  ///
  /// - Parameters:
  ///   - event: What happens.
  ///   - device: The number of the device.
  ///   - time: Nanoseconds since the beginning.
  /// - Returns: What is wrong with it; nil if nothing is.
  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String?

  /// Looks at the end.
  ///
  /// - Returns: What is wrong with it; nil if nothing is.
  func finish(_ end: SimulationEnd) -> String?
}

extension SimulationChecker {
  /// Nothing is wrong.
  public func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? { nil }
  /// Nothing is wrong.
  public func finish(_ end: SimulationEnd) -> String? { nil }
}
