//
//  PackingItem+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc(PackingItem)
public class PackingItem: Item {

  override public var isComplete: Bool {
    return isPacked
  }

  public var totalWeight: Measurement<UnitMass> {
    return Measurement(value: weight * Double(quantity), unit: .kilograms)
  }

  override public func prepareForDeletion() {
    super.prepareForDeletion()
    PackingItem.deletions += 1
  }

  /// How many were deleted, for the statistics screen.
  public private(set) static var deletions = 0

}
