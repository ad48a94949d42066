//
//  TripStore.swift
//  Trips
//

import CoreData
import Foundation

/// The questions that the app's screens ask.
public struct TripStore {

  public let context: NSManagedObjectContext

  public init(context: NSManagedObjectContext) {
    self.context = context
  }

  // MARK: - Trips

  public func trip(identifier: String) throws -> Trip? {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Trip.identifier), identifier)
    request.fetchLimit = 1
    return try context.fetch(request).first
  }

  public func trips(matching text: String) throws -> [Trip] {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = NSCompoundPredicate(orPredicateWithSubpredicates: [
      NSPredicate(format: "%K CONTAINS[cd] %@", #keyPath(Trip.name), text),
      NSPredicate(format: "\(#keyPath(Trip.notes)) CONTAINS[cd] %@", text),
    ])
    request.sortDescriptors = [
      NSSortDescriptor(
        key: #keyPath(Trip.name), ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
    ]
    return try context.fetch(request)
  }

  public func trips(of kinds: [TripKind]) throws -> [Trip] {
    return try Trip.fetch(in: context) { request in
      request.predicate = NSPredicate(
        format: "%K IN %@", #keyPath(Trip.kind), kinds.map { NSNumber(value: $0.rawValue) })
    }
  }

  public func trips(ownedBy lastName: String) throws -> [Trip] {
    let request = NSFetchRequest<Trip>(entityName: "Trip")
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Trip.owner.lastName), lastName)
    request.sortDescriptors = Trip.defaultSortDescriptors
    request.relationshipKeyPathsForPrefetching = [#keyPath(Trip.owner), #keyPath(Trip.items)]
    return try context.fetch(request)
  }

  public func trips(from start: Date, to end: Date) throws -> [Trip] {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = NSPredicate(
      format: "%K >= %@ AND %K < %@",
      #keyPath(Trip.startDate), start as NSDate,
      #keyPath(Trip.startDate), end as CVarArg)
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Trip.startDate), ascending: true)]
    return try context.fetch(request)
  }

  public func trips(tagged name: String) throws -> [Trip] {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = NSPredicate(format: "ANY \(#keyPath(Trip.tags.name)) == %@", name)
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Trip.name, ascending: true)]
    return try context.fetch(request)
  }

  public func favorites(limit: Int, offset: Int = 0) throws -> [Trip] {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Trip.isFavorite), NSNumber(value: true))
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Trip.sortIndex), ascending: true)]
    request.fetchLimit = limit
    request.fetchOffset = offset
    request.fetchBatchSize = 20
    return try context.fetch(request)
  }

  public func unratedTrips() throws -> [Trip] {
    return try Trip.fetch(in: context) {
      $0.predicate = NSPredicate(format: "%K == nil", #keyPath(Trip.rating))
    }
  }

  public func tripsWithoutItems() throws -> [Trip] {
    return try Trip.fetch(in: context) {
      $0.predicate = NSPredicate(format: "%K.@count == 0", #keyPath(Trip.items))
    }
  }

  /// Trips with a stop of at least so many nights.
  public func trips(withStopOf nights: Int) throws -> [Trip] {
    let request = Trip.sortedFetchRequest
    request.predicate = NSPredicate(
      format: "SUBQUERY(%K, $stop, $stop.nights >= %d).@count > 0", #keyPath(Trip.stops), nights)
    return try context.fetch(request)
  }

  public func trips(ratedAtLeast stars: Int) throws -> [Trip] {
    let predicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: #keyPath(Trip.rating)),
      rightExpression: NSExpression(forConstantValue: stars),
      modifier: .direct,
      type: .greaterThanOrEqualTo,
      options: [])
    return try Trip.fetch(in: context) { $0.predicate = predicate }
  }

  // MARK: - People

  public func busyPeople() throws -> [Person] {
    return try Person.fetch(in: context) { request in
      request.predicate = NSPredicate(
        format: "SUBQUERY(tasks, $task, $task.isDone == NO AND $task.priority == %d).@count > 0",
        TaskPriority.high.rawValue)
    }
  }

  // MARK: - Items

  public func items(of trip: Trip, includingTasks: Bool = true) throws -> [Item] {
    let belongs = NSPredicate(format: "%K == %@", #keyPath(Item.trip), trip)
    let request: NSFetchRequest<Item> = Item.fetchRequest()
    if includingTasks {
      request.predicate = belongs
    } else {
      let tasks = (trip.items?.allObjects ?? []).compactMap { $0 as? TaskItem }
      request.predicate = NSCompoundPredicate(
        type: .and,
        subpredicates: [
          belongs, NSPredicate(format: "NOT (self IN %@)", tasks),
        ])
    }
    request.sortDescriptors = Item.defaultSortDescriptors
    return try context.fetch(request)
  }

  public func openTasks(of priorities: Set<TaskPriority>) throws -> [TaskItem] {
    let request: NSFetchRequest<TaskItem> = TaskItem.fetchRequest()
    request.predicate = NSPredicate(
      format: "%K = NO AND %K IN %@",
      argumentArray: [
        #keyPath(TaskItem.isDone), #keyPath(TaskItem.priority), priorities.map { $0.rawValue },
      ])
    request.sortDescriptors = [
      NSSortDescriptor(key: #keyPath(TaskItem.priority), ascending: false),
      NSSortDescriptor(key: #keyPath(TaskItem.title), ascending: true),
    ]
    return try context.fetch(request)
  }

  // MARK: - Updating

  /// Updates in the store, without loading anything, and tells the context.
  @discardableResult
  public func makeFavorites(of kind: TripKind) throws -> Int {
    let request = NSBatchUpdateRequest(entity: Trip.entity())
    request.predicate = NSPredicate(format: "%K == %d", #keyPath(Trip.kind), kind.rawValue)
    request.propertiesToUpdate = [#keyPath(Trip.isFavorite): true]
    request.resultType = .updatedObjectIDsResultType
    let result = try context.execute(request) as? NSBatchUpdateResult
    let identifiers = result?.result as? [NSManagedObjectID] ?? []
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: identifiers], into: [context])
    return identifiers.count
  }

  // MARK: - Deleting

  /// Deletes in the store, without loading anything, and tells the given contexts.
  @discardableResult
  public func deletePhotos(takenBefore date: Date, merging contexts: [NSManagedObjectContext]) throws -> Int {
    let request: NSFetchRequest<NSFetchRequestResult> = Photo.fetchRequest()
    request.predicate = NSPredicate(format: "%K < %@", #keyPath(Photo.takenAt), date as NSDate)
    let deletion = NSBatchDeleteRequest(fetchRequest: request)
    deletion.resultType = .resultTypeObjectIDs
    let result = try context.execute(deletion) as? NSBatchDeleteResult
    let identifiers = result?.result as? [NSManagedObjectID] ?? []
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: identifiers], into: contexts)
    return identifiers.count
  }

  public func deleteUnusedTags() throws -> Int {
    let unused: NSFetchRequest<Tag> = Tag.fetchRequest()
    unused.predicate = NSPredicate(format: "%K.@count == 0", #keyPath(Tag.trips))
    let deletion = NSBatchDeleteRequest(fetchRequest: unused as! NSFetchRequest<NSFetchRequestResult>)
    deletion.resultType = .resultTypeCount
    let result = try context.execute(deletion) as! NSBatchDeleteResult
    return result.result as? Int ?? 0
  }

  /// Everything, entity by entity.
  public func deleteAll() throws {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
    for entity in model.entities where entity.superentity == nil {
      let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity.name!)
      request.includesPropertyValues = false
      guard let objects = try context.fetch(request) as? [NSManagedObject] else { continue }
      objects.forEach(context.delete)
    }
    try context.saveIfNeeded()
  }

}
