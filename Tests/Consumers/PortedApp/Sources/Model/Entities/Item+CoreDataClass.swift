//
//  Item+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

/// What a traveller has to think of. Abstract: see `PackingItem` and `TaskItem`.
@objc(Item)
public class Item: NSManagedObject {

  /// Whether nothing is left to do about it.
  public var isComplete: Bool {
    return false
  }

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    let now = Date()
    setPrimitiveValue(UUID(), forKey: "identifier")
    setPrimitiveValue(now, forKey: "createdAt")
  }

}
