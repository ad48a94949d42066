//
//  Trip+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension Trip {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Trip> {
    return NSFetchRequest<Trip>(entityName: "Trip")
  }

  @NSManaged public var aliases: [String]?
  @NSManaged public var budget: NSDecimalNumber?
  @NSManaged public internal(set) var createdAt: Date
  @NSManaged public var endDate: Date?
  @NSManaged public var identifier: String
  @NSManaged public var isFavorite: Bool
  @NSManaged public private(set) var modifiedAt: Date?
  @NSManaged public var name: String
  @NSManaged public var notes: String?
  @NSManaged public var rating: NSNumber?
  @NSManaged public var sortIndex: Int32
  @NSManaged public var startDate: Date?
  @NSManaged public var items: NSSet?
  @NSManaged public var owner: Person?
  @NSManaged public var photos: NSSet?
  @NSManaged public var stops: NSOrderedSet?
  @NSManaged public var tags: Set<Tag>?

}

// MARK: Generated accessors for items
extension Trip {

  @objc(addItemsObject:)
  @NSManaged public func addToItems(_ value: Item)

  @objc(removeItemsObject:)
  @NSManaged public func removeFromItems(_ value: Item)

  @objc(addItems:)
  @NSManaged public func addToItems(_ values: NSSet)

  @objc(removeItems:)
  @NSManaged public func removeFromItems(_ values: NSSet)

}

// MARK: Generated accessors for photos
extension Trip {

  @objc(addPhotosObject:)
  @NSManaged public func addToPhotos(_ value: Photo)

  @objc(removePhotosObject:)
  @NSManaged public func removeFromPhotos(_ value: Photo)

  @objc(addPhotos:)
  @NSManaged public func addToPhotos(_ values: NSSet)

  @objc(removePhotos:)
  @NSManaged public func removeFromPhotos(_ values: NSSet)

}

// MARK: Generated accessors for stops
extension Trip {

  @objc(insertObject:inStopsAtIndex:)
  @NSManaged public func insertIntoStops(_ value: Stop, at idx: Int)

  @objc(removeObjectFromStopsAtIndex:)
  @NSManaged public func removeFromStops(at idx: Int)

  @objc(insertStops:atIndexes:)
  @NSManaged public func insertIntoStops(_ values: [Stop], at indexes: NSIndexSet)

  @objc(removeStopsAtIndexes:)
  @NSManaged public func removeFromStops(at indexes: NSIndexSet)

  @objc(replaceObjectInStopsAtIndex:withObject:)
  @NSManaged public func replaceStops(at idx: Int, with value: Stop)

  @objc(replaceStopsAtIndexes:withStops:)
  @NSManaged public func replaceStops(at indexes: NSIndexSet, with values: [Stop])

  @objc(addStopsObject:)
  @NSManaged public func addToStops(_ value: Stop)

  @objc(removeStopsObject:)
  @NSManaged public func removeFromStops(_ value: Stop)

  @objc(addStops:)
  @NSManaged public func addToStops(_ values: NSOrderedSet)

  @objc(removeStops:)
  @NSManaged public func removeFromStops(_ values: NSOrderedSet)

}

// MARK: Generated accessors for tags
extension Trip {

  @objc(addTagsObject:)
  @NSManaged public func addToTags(_ value: Tag)

  @objc(removeTagsObject:)
  @NSManaged public func removeFromTags(_ value: Tag)

  @objc(addTags:)
  @NSManaged public func addToTags(_ values: Set<Tag>)

  @objc(removeTags:)
  @NSManaged public func removeFromTags(_ values: Set<Tag>)

}

extension Trip: Identifiable {

}
