//
//  Item+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension Item {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Item> {
    return NSFetchRequest<Item>(entityName: "Item")
  }

  @NSManaged public var createdAt: Date?
  @NSManaged public var identifier: UUID?
  @NSManaged public var title: String
  @NSManaged public var trip: Trip?

}

extension Item: Identifiable {

}
