//
//  Photo+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension Photo {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Photo> {
    return NSFetchRequest<Photo>(entityName: "Photo")
  }

  @NSManaged public internal(set) var byteCount: Int64
  @NSManaged public var caption: String?
  @NSManaged public internal(set) var data: Data?
  @NSManaged public var id: UUID?
  @NSManaged public var sourceURL: URL?
  @NSManaged public var takenAt: Date?
  @NSManaged public var trip: Trip?

}

extension Photo: Identifiable {

}
