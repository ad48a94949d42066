//
//  Stop.swift
//  Trips
//

import CoreData
import Foundation

@objc(Stop)
@objcMembers
public class Stop: NSManagedObject {

  @NSManaged public var arrival: Date?
  @NSManaged public var coordinate: Coordinate?
  @NSManaged public var hotel: String?
  @NSManaged public var name: String
  @NSManaged public var nights: Int16
  @NSManaged public var country: Country?
  @NSManaged public var trip: Trip?
  @NSManaged public var weather: WeatherReport?

  public var departure: Date? {
    return arrival?.addingTimeInterval(TimeInterval(nights) * 24 * 60 * 60)
  }

  public convenience init(
    name: String,
    nights: Int16 = 1,
    context: NSManagedObjectContext
  ) {
    self.init(context: context)
    self.name = name
    self.nights = nights
  }

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Stop> {
    return NSFetchRequest<Stop>(entityName: "Stop")
  }

}

extension Stop: Identifiable {}
