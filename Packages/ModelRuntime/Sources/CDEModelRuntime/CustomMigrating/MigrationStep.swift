public import CDEManagedModel
public import Foundation

/// A step from one version of a model to a later one, with code for what names can't express.
///
/// ```swift
/// description.migrationSteps = [
///   MigrationStep(from: first, to: second) { old, new in
///     for person in try old.snapshots(of: "Person") {
///       let name: String = try person["name"]
///       try new.object(for: person)?.set("initial", to: String(name.prefix(1)))
///     }
///   }
/// ]
/// ```
///
/// Before the code runs, all values that have a place in the new version are there already, as after a lightweight migration, and
/// objects keep their IDs. Where the type of an attribute has changed so that its values have no place, it begins with its default.
/// Required values may be missing, and unique ones may be taken twice, until the code has run; then the step fails, with the
/// reasons.
///
/// The step works on a copy, which replaces the store as a whole after the last step. The code runs once, on the thread
/// that opens the store. An error that it throws ends the migration, and the store stays as it is. Apple's Core Data has no
/// such type.
public struct MigrationStep: Sendable {
  /// The version that the step begins with.
  public let source: NSManagedObjectModel
  /// The version that the step leads to.
  public let destination: NSManagedObjectModel
  let body: @Sendable (_ old: Old, _ new: New) throws -> Void

  /// Makes a step.
  ///
  /// - Parameters:
  ///   - source: the older version. It can't be changed afterwards.
  ///   - destination: the newer version. It can't be changed afterwards.
  ///   - body: sets what can't be inferred. Neither argument may be used after it has returned.
  public init(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    _ body: @escaping @Sendable (_ old: Old, _ new: New) throws -> Void
  ) {
    self.source = source
    self.destination = destination
    self.body = body
  }
}

extension NSPersistentStoreDescription {
  private static let stepsKey = "CDEMigrationSteps"

  /// The steps by which a store of an older version is migrated when it is opened, the oldest first. Empty by default.
  ///
  /// The first step whose ``MigrationStep/source`` is the store's version begins, and those that follow on it go on. What is
  /// left to the coordinator's model is inferred. A store of a version that no step begins with is migrated without them. Apple's
  /// Core Data has no such property.
  public var migrationSteps: [MigrationStep] {
    get { options[Self.stepsKey] as? [MigrationStep] ?? [] }
    set { setOption(newValue, forKey: Self.stepsKey) }
  }
}

extension MigrationStep {
  /// The values of an object in the old store. They never change.
  public struct Snapshot {
    let object: NSManagedObject

    /// The name of the object's entity.
    public var entity: String { object._binding.name }

    /// The value of an attribute.
    ///
    /// ```swift
    /// let title: String = try note["title"]
    /// let stars: Int? = try note["stars"]
    /// ```
    ///
    /// - Throws: ``ManagedObjectError`` with code `.invalidValue` for a name that the old entity lacks or that is a
    ///   relationship, a value of another type, and a missing value if the type is not optional.
    public subscript<Value>(_ name: String, as type: Value.Type = Value.self) -> Value {
      get throws { try object.migrationValue(name) }
    }

    /// The objects of a relationship, in its order if it has one; of a to-one relationship one or none.
    ///
    /// - Throws: ``ManagedObjectError`` with code `.invalidValue` for a name that is no relationship.
    public func related(_ name: String) throws -> [Snapshot] {
      try object.migrationMembers(name).map { Snapshot(object: $0) }
    }
  }

  /// An object in the new store.
  public struct Object {
    let object: NSManagedObject

    /// The name of the object's entity.
    public var entity: String { object._binding.name }

    /// The value of an attribute.
    ///
    /// - Throws: ``ManagedObjectError`` with code `.invalidValue`, as for a snapshot.
    public subscript<Value>(_ name: String, as type: Value.Type = Value.self) -> Value {
      get throws { try object.migrationValue(name) }
    }

    /// The objects of a relationship, in its order if it has one; of a to-one relationship one or none.
    ///
    /// - Throws: ``ManagedObjectError`` with code `.invalidValue` for a name that is no relationship.
    public func related(_ name: String) throws -> [Object] {
      try object.migrationMembers(name).map { Object(object: $0) }
    }

    /// Sets an attribute. Nil removes the value.
    ///
    /// - Throws: ``ManagedObjectError``: `.invalidValue` for a value that does not fit, `.migrationPolicy` for a name that the new
    ///   entity lacks.
    public func set(_ name: String, to value: (any Sendable)?) throws {
      try object.setMigrated(value, name)
    }

    /// Sets a to-one relationship, and its inverse.
    ///
    /// - Throws: ``ManagedObjectError``, as for attributes.
    public func relate(_ name: String, to object: Object?) throws {
      try self.object.setMigrated(object?.object, name)
    }

    /// Sets a to-many relationship, and its inverse. An ordered one gets the order of the list.
    ///
    /// - Throws: ``ManagedObjectError``, as for attributes.
    public func relate(_ name: String, to objects: [Object]) throws {
      try object.setMigrated(objects.map(\.object), name)
    }
  }

  /// The store as it was before the step. It is read, and never changes.
  public struct Old {
    let context: NSManagedObjectContext

    /// The objects of an entity and its sub-entities, in the order of their keys.
    ///
    /// Values are read in groups when they are used.
    ///
    /// - Parameters:
    ///   - entity: an entity of the old model.
    ///   - predicate: a condition for the objects; nil for all.
    /// - Throws: ``ManagedObjectError`` for an unknown entity or a predicate that can't be used.
    public func snapshots(of entity: String, where predicate: NSPredicate? = nil) throws -> [Snapshot] {
      try context.migrationObjects(entity, predicate).map { Snapshot(object: $0) }
    }
  }

  /// The store after the step, in which values and relationships are already that have the same names.
  public struct New {
    let context: NSManagedObjectContext
    /// The new entity of an old object, and what was added to its key.
    let places: [String: (entity: String, offset: Int64)]

    /// The object that an old one has become; nil if its entity is removed, or the object was deleted.
    ///
    /// - Throws: ``ManagedObjectError`` if the store can't be read.
    public func object(for snapshot: Snapshot) throws -> Object? {
      guard let place = places[snapshot.entity], let registry = context.registry,
        let binding = registry.model.entity(named: place.entity)
      else { return nil }
      let id = NSManagedObjectID(
        binding: binding, key: snapshot.object.rowKey + place.offset,
        store: try context.persistentStoreCoordinator?.requiredHandle(for: binding))
      do {
        let found = try context.existingObject(with: id)
        return found.isDeleted ? nil : Object(object: found)
      } catch let error as ManagedObjectError where error.code == .objectNotFound { return nil }
    }

    /// The objects of an entity and its sub-entities, with those that were inserted.
    ///
    /// - Parameters:
    ///   - entity: an entity of the new model.
    ///   - predicate: a condition for the objects; nil for all.
    /// - Throws: ``ManagedObjectError`` for an unknown entity or a predicate that can't be used.
    public func objects(of entity: String, where predicate: NSPredicate? = nil) throws -> [Object] {
      try context.migrationObjects(entity, predicate).map { Object(object: $0) }
    }

    /// Makes an object.
    ///
    /// - Parameter entity: an entity of the new model that is not abstract.
    /// - Throws: ``ManagedObjectError`` with code `.unknownEntity` for another one.
    public func insert(_ entity: String) throws -> Object {
      guard let found = context.registry?.model.entity(named: entity) else {
        throw ManagedObjectError.unknownMigrationEntity(entity, context)
      }
      return Object(object: NSManagedObject(entity: found.description, insertInto: context))
    }

    /// Deletes an object, with the delete rules of the new model.
    public func delete(_ object: Object) { context.delete(object.object) }
  }
}

extension ManagedObjectError {
  fileprivate static func unknownMigrationEntity(
    _ name: String, _ context: NSManagedObjectContext
  ) -> ManagedObjectError {
    let known = context.registry?.model.entities.map(\.name) ?? []
    return ManagedObjectError(
      .unknownEntity,
      "The version of the model has no entity \"\(name)\". \(Spelling.hint(name, known, all: "Its entities are"))",
      entity: name)
  }
}

extension NSManagedObjectContext {
  fileprivate func migrationObjects(_ entity: String, _ predicate: NSPredicate?) throws -> [NSManagedObject] {
    guard registry?.model.entity(named: entity) != nil else {
      throw ManagedObjectError.unknownMigrationEntity(entity, self)
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    return try fetch(request)
  }
}

extension NSManagedObject {
  private func unfit(_ name: String, _ reason: String) -> ManagedObjectError {
    ManagedObjectError(
      .invalidValue, "\(_binding.name).\(name) can't be read in a step of a migration: \(reason)",
      entity: _binding.name,
      property: name)
  }

  fileprivate func migrationValue<Value>(_ name: String) throws -> Value {
    guard let info = _binding.property(name) else {
      throw unfit(
        name,
        "there is no such property. \(Spelling.hint(name, _binding.properties.map(\.name), all: "There are"))"
      )
    }
    switch info.kind {
    case .toOne, .toMany: throw unfit(name, "it is a relationship. Use related(_:).")
    case .attribute, .composite: break
    }
    let value = anyValue(info)
    if let fitting = value as? Value { return fitting }
    throw unfit(
      name,
      value.map { "the value is of type \(type(of: $0)) and not \(Value.self). Read that type." }
        ?? "there is no value. Read it as an optional.")
  }

  fileprivate func migrationMembers(_ name: String) throws -> [NSManagedObject] {
    guard let info = _binding.property(name) else {
      throw unfit(
        name,
        "there is no such property. \(Spelling.hint(name, _binding.properties.map(\.name), all: "There are"))"
      )
    }
    switch info.kind {
    case .toOne: return [toOne(info.slot)].compactMap(\.self)
    case .toMany: return loadedMembers(info.slot).objects
    case .attribute, .composite: throw unfit(name, "it is an attribute. Use a subscript.")
    }
  }
}
