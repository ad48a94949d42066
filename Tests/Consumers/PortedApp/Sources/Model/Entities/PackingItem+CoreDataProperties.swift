//
//  PackingItem+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension PackingItem {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<PackingItem> {
    return NSFetchRequest<PackingItem>(entityName: "PackingItem")
  }

  @NSManaged public var isPacked: Bool
  @NSManaged public var quantity: Int32
  @NSManaged public var weight: Double

}
