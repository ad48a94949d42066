//
//  Person+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension Person {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
    return NSFetchRequest<Person>(entityName: "Person")
  }

  @NSManaged public var email: String?
  @NSManaged public var firstName: String?
  @NSManaged public var companions: Set<Person>
  @NSManaged public var tasks: NSSet?
  @NSManaged public var trips: NSSet?

}

// MARK: Generated accessors for companions
extension Person {

  @objc(addCompanionsObject:)
  @NSManaged public func addToCompanions(_ value: Person)

  @objc(removeCompanionsObject:)
  @NSManaged public func removeFromCompanions(_ value: Person)

}

// MARK: Generated accessors for tasks
extension Person {

  @objc(addTasksObject:)
  @NSManaged public func addToTasks(_ value: TaskItem)

  @objc(removeTasksObject:)
  @NSManaged public func removeFromTasks(_ value: TaskItem)

  @objc(addTasks:)
  @NSManaged public func addToTasks(_ values: NSSet)

  @objc(removeTasks:)
  @NSManaged public func removeFromTasks(_ values: NSSet)

}

// MARK: Generated accessors for trips
extension Person {

  @objc(addTripsObject:)
  @NSManaged public func addToTrips(_ value: Trip)

  @objc(removeTripsObject:)
  @NSManaged public func removeFromTrips(_ value: Trip)

  @objc(addTrips:)
  @NSManaged public func addToTrips(_ values: NSSet)

  @objc(removeTrips:)
  @NSManaged public func removeFromTrips(_ values: NSSet)

}

extension Person: Identifiable {

}
