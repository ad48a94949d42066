//
//  Repository.swift
//  Trips
//

import CoreData
import Foundation
#if canImport(Combine)
  import Combine
#endif

public enum RepositoryError: Error {
  case objectNotFound
  case invalidManagedObjectType
}

public protocol Repository {
  associatedtype Entity

  func get(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) -> Result<[Entity], Error>
  func create() -> Result<Entity, Error>
  func delete(entity: Entity) -> Result<Bool, Error>
}

/// A repository of the objects of one class.
public class CoreDataRepository<T: NSManagedObject>: Repository {
  public typealias Entity = T

  private let managedObjectContext: NSManagedObjectContext

  public init(managedObjectContext: NSManagedObjectContext) {
    self.managedObjectContext = managedObjectContext
  }

  public func get(predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil) -> Result<
    [T], Error
  > {
    let fetchRequest = Entity.fetchRequest()
    fetchRequest.predicate = predicate
    fetchRequest.sortDescriptors = sortDescriptors
    do {
      if let fetchResults = try managedObjectContext.fetch(fetchRequest) as? [Entity] {
        return .success(fetchResults)
      } else {
        return .failure(RepositoryError.invalidManagedObjectType)
      }
    } catch {
      return .failure(error)
    }
  }

  public func create() -> Result<T, Error> {
    let className = String(describing: Entity.self)
    guard
      let managedObject = NSEntityDescription.insertNewObject(
        forEntityName: className, into: managedObjectContext) as? Entity
    else {
      return .failure(RepositoryError.invalidManagedObjectType)
    }
    return .success(managedObject)
  }

  public func delete(entity: T) -> Result<Bool, Error> {
    managedObjectContext.delete(entity)
    return .success(true)
  }

  #if canImport(Combine)
    public func publisher() -> AnyPublisher<[T], Error> {
      Just(()).tryMap { try self.get().get() }.eraseToAnyPublisher()
    }
  #endif
}

public final class UnitOfWork {
  private let context: NSManagedObjectContext
  public let trips: CoreDataRepository<Trip>
  public let people: CoreDataRepository<Person>

  public init(context: NSManagedObjectContext) {
    self.context = context
    trips = CoreDataRepository<Trip>(managedObjectContext: context)
    people = CoreDataRepository<Person>(managedObjectContext: context)
  }

  @discardableResult public func saveChanges() -> Result<Bool, Error> {
    do {
      try context.save()
      return .success(true)
    } catch {
      context.rollback()
      return .failure(error)
    }
  }
}
