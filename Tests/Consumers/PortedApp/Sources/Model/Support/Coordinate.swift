//
//  Coordinate.swift
//  Trips
//

import Foundation

/// A place on Earth, archived in a transformable attribute.
@objc(Coordinate)
public final class Coordinate: NSObject, NSSecureCoding {

  public let latitude: Double
  public let longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
    super.init()
  }

  // MARK: - NSSecureCoding

  public static var supportsSecureCoding: Bool {
    return true
  }

  public init?(coder: NSCoder) {
    latitude = coder.decodeDouble(forKey: "latitude")
    longitude = coder.decodeDouble(forKey: "longitude")
    super.init()
  }

  public func encode(with coder: NSCoder) {
    coder.encode(latitude, forKey: "latitude")
    coder.encode(longitude, forKey: "longitude")
  }

  // MARK: - Equality

  override public func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? Coordinate else { return false }
    return latitude == other.latitude && longitude == other.longitude
  }

  override public var hash: Int {
    var hasher = Hasher()
    hasher.combine(latitude)
    hasher.combine(longitude)
    return hasher.finalize()
  }

}
