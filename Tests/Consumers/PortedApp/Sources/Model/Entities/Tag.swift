//
//  Tag.swift
//  Trips
//

import CoreData
import Foundation

@objc(Tag)
public final class Tag: NSManagedObject {

  @NSManaged public var colorName: String?
  @NSManaged public var name: String
  @NSManaged public var trips: Set<Trip>?

  /// How many objects of the class were made in this process.
  static var madeObjects = 0

  override public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    Tag.madeObjects += 1
    super.init(entity: entity, insertInto: context)
  }

  public convenience init(name: String, colorName: String? = nil, insertInto context: NSManagedObjectContext)
  {
    guard let entity = NSEntityDescription.entity(forEntityName: "Tag", in: context) else {
      fatalError("The model has no entity Tag")
    }
    self.init(entity: entity, insertInto: context)
    self.name = name
    if let colorName = colorName { self.colorName = colorName }
  }

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Tag> {
    return NSFetchRequest<Tag>(entityName: "Tag")
  }

}

extension Tag {

  static let byName = NSSortDescriptor(key: #keyPath(Tag.name), ascending: true)

  @objc(addTripsObject:)
  @NSManaged func addToTrips(_ value: Trip)

  @objc(removeTripsObject:)
  @NSManaged func removeFromTrips(_ value: Trip)

}
