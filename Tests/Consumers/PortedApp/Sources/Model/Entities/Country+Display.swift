//
//  Country+Display.swift
//  Trips
//

import CoreData

// Xcode generates the class, so that overrides are in an extension.
extension Country {

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue("XX", forKey: #keyPath(Country.code))
  }

  override public var description: String {
    return "Country \(code ?? "")"
  }

  @objc public func title() -> String {
    return name ?? "Somewhere"
  }
}

class Island: Country {
  override func title() -> String {
    return "Isle of \(super.title())"
  }
}
