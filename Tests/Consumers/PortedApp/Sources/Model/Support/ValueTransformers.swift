//
//  ValueTransformers.swift
//  Trips
//

import CoreData
import Foundation

/// Archives coordinates, and refuses to read anything else.
@objc(CoordinateTransformer)
final class CoordinateTransformer: NSSecureUnarchiveFromDataTransformer {

  static let name = NSValueTransformerName(rawValue: String(describing: CoordinateTransformer.self))

  override static var allowedTopLevelClasses: [AnyClass] {
    return [Coordinate.self]
  }

  static func register() {
    ValueTransformer.setValueTransformer(CoordinateTransformer(), forName: name)
  }

}

/// Stores a list of strings as JSON, which other programs can read.
@objc(StringListTransformer)
final class StringListTransformer: ValueTransformer {

  override class func transformedValueClass() -> AnyClass {
    return NSData.self
  }

  override class func allowsReverseTransformation() -> Bool {
    return true
  }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let strings = value as? [String] else { return nil }
    return try? JSONEncoder().encode(strings)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? JSONDecoder().decode([String].self, from: data)
  }

  static func register() {
    let name = NSValueTransformerName("StringListTransformer")
    ValueTransformer.setValueTransformer(StringListTransformer(), forName: name)
  }

}
