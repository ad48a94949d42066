//
//  Person+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc(Person)
public class Person: NSManagedObject {

  /// The first letter of the last name, for the headings of lists. Transient in the model.
  @objc public var initial: String? {
    get {
      willAccessValue(forKey: "initial")
      let cached = primitiveValue(forKey: "initial") as? String
      didAccessValue(forKey: "initial")
      if let cached = cached { return cached }
      guard let letter = lastName.first else { return nil }
      let initial = String(letter).uppercased()
      setPrimitiveValue(initial, forKey: "initial")
      return initial
    }
    set {
      setPrimitiveValue(newValue?.prefix(1).uppercased(), forKey: "initial")
    }
  }

  @objc public dynamic var fullName: String {
    return [firstName, lastName].compactMap { $0 }.joined(separator: " ")
  }

  @objc public class func keyPathsForValuesAffectingFullName() -> Set<String> {
    return [#keyPath(Person.firstName), #keyPath(Person.lastName)]
  }

  /// Written by hand, as a new last name makes the cached initial wrong.
  @objc public var lastName: String {
    get {
      willAccessValue(forKey: #keyPath(lastName))
      defer { didAccessValue(forKey: #keyPath(lastName)) }
      return primitiveLastName ?? ""
    }
    set {
      willChangeValue(forKey: #keyPath(lastName))
      primitiveLastName = newValue
      didChangeValue(forKey: #keyPath(lastName))
      setPrimitiveValue(nil, forKey: #keyPath(initial))
    }
  }

  @NSManaged fileprivate var primitiveLastName: String?

}
