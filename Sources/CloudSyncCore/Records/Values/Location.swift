/// A place on Earth, with what a receiver knows beside it.
///
/// Two locations are equal if all their bits are, so `-0.0` is not `0.0`.
public struct Location: Hashable, Codable, Sendable, CodedValue {
  /// Degrees north of the equator.
  public var latitude: Double
  /// Degrees east of Greenwich.
  public var longitude: Double
  /// Metres above sea level.
  public var altitude: Double?
  /// The radius of uncertainty in metres.
  public var horizontalAccuracy: Double?
  /// The uncertainty of the altitude in metres.
  public var verticalAccuracy: Double?
  /// The direction of movement in degrees clockwise from north.
  public var course: Double?
  /// The speed in metres a second.
  public var speed: Double?
  /// When the place was determined.
  public var timestamp: Timestamp?

  /// Creates a location.
  public init(
    latitude: Double,
    longitude: Double,
    altitude: Double? = nil,
    horizontalAccuracy: Double? = nil,
    verticalAccuracy: Double? = nil,
    course: Double? = nil,
    speed: Double? = nil,
    timestamp: Timestamp? = nil
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.speed = speed
    self.timestamp = timestamp
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("latitude", latitude)
      $0.field("longitude", longitude)
      $0.field("altitude", altitude)
      $0.field("horizontalAccuracy", horizontalAccuracy)
      $0.field("verticalAccuracy", verticalAccuracy)
      $0.field("course", course)
      $0.field("speed", speed)
      $0.field("timestamp", timestamp)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      Location(
        latitude: try reader.field("latitude"),
        longitude: try reader.field("longitude"),
        altitude: try reader.field("altitude"),
        horizontalAccuracy: try reader.field("horizontalAccuracy"),
        verticalAccuracy: try reader.field("verticalAccuracy"),
        course: try reader.field("course"),
        speed: try reader.field("speed"),
        timestamp: try reader.field("timestamp")
      )
    }
  }
}
