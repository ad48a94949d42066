//
//  TripImporter.swift
//  Trips
//

import CoreData
import Foundation
import os

/// Hears of imports.
@objc public protocol TripImporterDelegate: AnyObject {
  func importer(_ importer: TripImporter, didImport count: Int)
  @objc optional func importer(_ importer: TripImporter, didFailWith error: Error)
  @objc optional func importerWillBegin(_ importer: TripImporter)
}

/// Brings the server's trips into the store, in the background.
public final class TripImporter: NSObject {

  public struct Summary: Equatable {
    public var inserted = 0
    public var updated = 0
  }

  public weak var delegate: TripImporterDelegate?

  private let stack: CoreDataStack
  private let logger = Logger(subsystem: "com.example.trips", category: "import")

  public init(stack: CoreDataStack = .shared) {
    self.stack = stack
    super.init()
  }

  // MARK: - Ways to import

  /// Calls the completion handler on the main queue.
  public func importTrips(from data: Data, completion: @escaping (Result<Summary, Error>) -> Void) {
    stack.performBackgroundTask { context in
      let result = Result { try self.importTrips(from: data, into: context) }
      if case .failure(let error) = result {
        self.logger.error("The import failed: \(error.localizedDescription, privacy: .public)")
      }
      DispatchQueue.main.async { completion(result) }
    }
  }

  public func importTripsAndWait(from data: Data) throws -> Summary {
    delegate?.importerWillBegin?(self)
    let context = stack.newBackgroundContext()
    var result: Result<Summary, Error>!
    context.performAndWait {
      result = Result { try importTrips(from: data, into: context) }
    }
    switch result! {
    case .success(let summary):
      delegate?.importer(self, didImport: summary.inserted + summary.updated)
    case .failure(let error):
      delegate?.importer?(self, didFailWith: error)
    }
    return try result.get()
  }

  public func importTrips(from data: Data) async throws -> Summary {
    let context = stack.newBackgroundContext()
    return try await context.perform {
      try self.importTrips(from: data, into: context)
    }
  }

  // MARK: - The import itself

  private func importTrips(from data: Data, into context: NSManagedObjectContext) throws -> Summary {
    let payloads = try TripPayload.decoder.decode([TripPayload].self, from: data)
    var summary = Summary()
    for (index, payload) in payloads.enumerated() {
      let identifier = payload.identifier
      let trip = try Trip.findOrCreate(
        in: context,
        matching: NSPredicate(format: "%K == %@", #keyPath(Trip.identifier), identifier)
      ) { trip in
        trip.identifier = identifier
        trip.sortIndex = Int32(index)
      }
      if trip.isInserted { summary.inserted += 1 } else { summary.updated += 1 }
      try autoreleasepool {
        try update(trip, from: payload, in: context)
      }
    }
    try context.saveIfNeeded()
    logger.info("Imported \(summary.inserted) new and \(summary.updated) known trips")
    return summary
  }

  private func update(_ trip: Trip, from payload: TripPayload, in context: NSManagedObjectContext) throws {
    trip.name = payload.name
    trip.kind = payload.kind.flatMap(TripKind.init(rawValue:)) ?? .leisure
    trip.rating = payload.rating as NSNumber?
    trip.budget = payload.budget.map { NSDecimalNumber(decimal: $0) }
    trip.startDate = payload.startDate
    trip.endDate = payload.endDate
    trip.owner = try payload.owner.map { try person($0, in: context) }
    trip.tags = Set(try (payload.tags ?? []).map { try tag(named: $0, in: context) })

    trip.stopsArray.forEach { context.delete($0) }
    let stops = try (payload.stops ?? []).map { try stop($0, in: context) }
    trip.stops = NSOrderedSet(array: stops)

    let known = Set(trip.sortedItems.map { $0.title })
    for item in payload.items ?? [] where !known.contains(item.title) {
      trip.addToItems(self.item(item, in: context))
    }
  }

  private func person(_ payload: TripPayload.Owner, in context: NSManagedObjectContext) throws -> Person {
    let predicate = NSPredicate(
      format: "%K == %@ AND (%K == nil OR %K == %@)",
      #keyPath(Person.lastName), payload.lastName,
      #keyPath(Person.firstName), #keyPath(Person.firstName), payload.firstName ?? "")
    let person = try Person.findOrCreate(in: context, matching: predicate) { person in
      person.firstName = payload.firstName
      person.lastName = payload.lastName
    }
    if let email = payload.email, person.email != email { person.email = email }
    return person
  }

  private func tag(named name: String, in context: NSManagedObjectContext) throws -> Tag {
    return try Tag.findOrCreate(in: context, matching: NSPredicate(format: "name == %@", name)) {
      $0.name = name
    }
  }

  private func stop(_ payload: TripPayload.Stop, in context: NSManagedObjectContext) throws -> Stop {
    let stop = Stop(name: payload.name, nights: payload.nights, context: context)
    if let latitude = payload.latitude, let longitude = payload.longitude {
      stop.coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }
    if let code = payload.countryCode {
      stop.country = try Country.findOrCreate(
        in: context, matching: NSPredicate(format: "%K = %@", #keyPath(Country.code), code)
      ) { country in
        country.code = code
        country.name = Locale(identifier: "en_US").localizedString(forRegionCode: code)
      }
    }
    return stop
  }

  private func item(_ payload: TripPayload.Item, in context: NSManagedObjectContext) -> Item {
    switch payload.kind {
    case .packing:
      let item = PackingItem(context: context)
      item.title = payload.title
      item.quantity = payload.quantity ?? 1
      return item
    case .task:
      let task = TaskItem(context: context)
      task.title = payload.title
      task.priority = payload.priority.flatMap { TaskPriority(rawValue: $0) } ?? .normal
      return task
    }
  }

}
