#if canImport(CloudKit)
import CloudSyncCore
import CoreLocation
import Foundation

extension CLLocation {
  /// What says that something is absent, as CoreLocation does.
  fileprivate static let absent = -1.0
  /// What says that there is an altitude, but nothing is known of its accuracy.
  ///
  /// It is negative too, so that others take it as absent, and tells an altitude of 0 from none.
  fileprivate static let inaccurate = -2.0

  /// The place as CloudKit holds it.
  convenience init(_ location: Location) {
    let hasAltitude = location.altitude != nil
    self.init(
      coordinate: CLLocationCoordinate2D(
        latitude: location.latitude,
        longitude: location.longitude
      ),
      altitude: location.altitude ?? 0,
      horizontalAccuracy: location.horizontalAccuracy ?? Self.absent,
      verticalAccuracy: location.verticalAccuracy
        ?? (hasAltitude ? Self.inaccurate : Self.absent),
      course: location.course ?? Self.absent,
      speed: location.speed ?? Self.absent,
      // Without a date it would be that of this call.
      timestamp: location.timestamp?.date ?? Date.distantPast
    )
  }
}

extension Location {
  /// The place that CloudKit holds.
  init(_ location: CLLocation) {
    let hasAltitude =
      location.verticalAccuracy >= 0 || location.verticalAccuracy == CLLocation.inaccurate
      || location.altitude != 0
    self.init(
      latitude: location.coordinate.latitude,
      longitude: location.coordinate.longitude,
      altitude: hasAltitude ? location.altitude : nil,
      horizontalAccuracy: Self.present(number: location.horizontalAccuracy),
      verticalAccuracy: Self.present(number: location.verticalAccuracy),
      course: Self.present(number: location.course),
      speed: Self.present(number: location.speed),
      timestamp: location.timestamp <= Date.distantPast
        ? nil : Timestamp(inMicrosecondsOf: location.timestamp)
    )
  }

  private static func present(number: Double) -> Double? { number < 0 ? nil : number }
}
#endif
