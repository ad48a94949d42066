//
//  Managed.swift
//  Trips
//

import CoreData
import Foundation

/// What the classes of the model have in common.
protocol Managed: AnyObject, NSFetchRequestResult {
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Managed {

  static var defaultSortDescriptors: [NSSortDescriptor] {
    return []
  }

  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    return request
  }

}

extension Managed where Self: NSManagedObject {

  static var entityName: String {
    return entity().name ?? String(describing: self)
  }

  static func fetch(
    in context: NSManagedObjectContext,
    configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = sortedFetchRequest
    configure(request)
    return try context.fetch(request)
  }

  static func count(in context: NSManagedObjectContext, matching predicate: NSPredicate? = nil) throws -> Int
  {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.predicate = predicate
    return try context.count(for: request)
  }

  /// The object in memory that matches, or the one in the store.
  static func findOrFetch(in context: NSManagedObjectContext, matching predicate: NSPredicate) throws -> Self?
  {
    for object in context.registeredObjects where !object.isFault && !object.isDeleted {
      guard let candidate = object as? Self, predicate.evaluate(with: candidate) else { continue }
      return candidate
    }
    return try fetch(in: context) { request in
      request.predicate = predicate
      request.returnsObjectsAsFaults = false
      request.fetchLimit = 1
    }.first
  }

  static func findOrCreate(
    in context: NSManagedObjectContext,
    matching predicate: NSPredicate,
    configure: (Self) throws -> Void
  ) throws -> Self {
    if let object = try findOrFetch(in: context, matching: predicate) { return object }
    let object: Self = context.insertObject()
    try configure(object)
    return object
  }

}

extension NSManagedObjectContext {

  func insertObject<A: NSManagedObject>() -> A where A: Managed {
    guard let object = NSEntityDescription.insertNewObject(forEntityName: A.entityName, into: self) as? A
    else {
      fatalError("Entity \(A.entityName) has another class")
    }
    return object
  }

}

extension Trip: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [
      NSSortDescriptor(key: #keyPath(startDate), ascending: false),
      NSSortDescriptor(key: #keyPath(Trip.name), ascending: true),
    ]
  }
}

extension Tag: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] { return [byName] }
}

extension Person: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: #keyPath(Person.lastName), ascending: true)]
  }
}

extension Item: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(keyPath: \Item.title, ascending: true)]
  }
}

extension Stop: Managed {}
extension Photo: Managed {}
extension Country: Managed {}
extension WeatherReport: Managed {}
