@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// The store of a ``ModelConfiguration``, in rows of a database, for use by itself.
///
/// A container opens the same database for such a configuration without this class. A store of an application's own type may keep its
/// snapshots in one, and do something else besides:
///
/// ```swift
/// final class CountingStore: DataStore {
///   typealias Configuration = CountingConfiguration
///   typealias Snapshot = DefaultSnapshot
///
///   let configuration: CountingConfiguration
///   let base: DefaultStore
///   private(set) var saves = 0
///   var identifier: String { base.identifier }
///   var schema: Schema { base.schema }
///
///   init(_ configuration: CountingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
///     self.configuration = configuration
///     base = try DefaultStore(
///       ModelConfiguration(schema: configuration.schema, url: configuration.url), migrationPlan: migrationPlan)
///   }
///
///   func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
///     try base.fetch(request)
///   }
///
///   func save(
///     _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
///   ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
///     saves += 1
///     return try base.save(request)
///   }
/// }
///
/// struct CountingConfiguration: DataStoreConfiguration {
///   typealias Store = CountingStore
///   var name: String
///   var schema: Schema?
///   var url: URL
/// }
/// ```
///
/// As in SwiftData. Use it from one thread at a time.
public final class DefaultStore: DataStore, DataStoreBatching {
  /// The type of the configuration, which containers take as well.
  public typealias Configuration = ModelConfiguration
  /// The type of the snapshots.
  public typealias Snapshot = DefaultSnapshot

  /// What the store was made of.
  public let configuration: ModelConfiguration
  /// The entities of the store.
  public let schema: Schema
  /// The UUID of the database. It is another one after ``erase()``.
  public var identifier: String { container.core.coordinator.persistentStores.first?.identifier ?? "" }
  private let container: ModelContainer
  /// Used by one caller at a time, as the store is.
  private let context: ModelContext

  /// Opens the database.
  ///
  /// - Throws: ``SwiftDataError`` with code `configurationSchemaNotFoundInContainerSchema` for a configuration without a schema, and
  ///   the errors of a container's initialiser.
  public init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    guard let schema = configuration.schema else {
      throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.about(
        "The configuration \(configuration.name) has no schema. Set its schema before a store is made of it.")
    }
    self.configuration = configuration
    self.schema = schema
    container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
    context = ModelContext(container)
  }

  /// Removes all models, by making the database anew.
  public func erase() throws { try container.erase() }

  /// Finds models. The database evaluates the predicate and sorts.
  ///
  /// - Throws: the errors of ``ModelContext/fetch(_:)``.
  public func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    let models = try inState(request.editingState) { try context.fetch(request.descriptor) }
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: models.map { snapshot(of: $0._$object) })
  }

  /// The number of models, which the database counts.
  public func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try inState(request.editingState) { try context.fetchCount(request.descriptor) }
  }

  /// The identifiers of models, without their values.
  public func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    try inState(request.editingState) { try context.fetchIdentifiers(request.descriptor) }
  }

  /// Writes changes in one transaction.
  ///
  /// - Throws: the errors of ``ModelContext/save()``, and ``SwiftDataError`` with code `.unreadable` for an updated model that the
  ///   database does not have. Then nothing is written.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    try inState(request.editingState) {
      do {
        var objects: [PersistentIdentifier: _ModelObject] = [:]
        for snapshot in request.inserted {
          objects[snapshot.persistentIdentifier] = try insert(snapshot)
        }
        for snapshot in request.updated {
          objects[snapshot.persistentIdentifier] = try existing(snapshot.persistentIdentifier)
        }
        for snapshot in request.inserted + request.updated {
          guard let object = objects[snapshot.persistentIdentifier] else { continue }
          try set(snapshot, on: object, objects)
        }
        for snapshot in request.deleted {
          if let object = try? existing(snapshot.persistentIdentifier), !object.isDeleted {
            context.context.delete(object)
          }
        }
        try context.save()
        let identifiers = request.inserted.compactMap { snapshot in
          objects[snapshot.persistentIdentifier].map {
            (snapshot.persistentIdentifier, PersistentIdentifier($0.objectID))
          }
        }
        context.context.reset()
        return DataStoreSaveChangesResult(
          for: identifier, remappedIdentifiers: Dictionary(identifiers) { first, _ in first })
      } catch {
        context.context.reset()
        throw error
      }
    }
  }

  /// Deletes models by a condition and by the delete rules, in one transaction.
  public func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    try inState(request.editingState) {
      do {
        try context.delete(
          model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
        try context.save()
      } catch {
        context.context.reset()
        throw error
      }
    }
  }

  // MARK: Objects

  /// Runs a body as the context that asks, for the author of transactions, and outside of the stores that call this one.
  private func inState<Result>(_ state: EditingState, _ body: () throws -> Result) rethrows -> Result {
    context.author = state.author
    return try StoreScope.$core.withValue(container.core) { try body() }
  }

  private func snapshot(of object: _ModelObject) -> DefaultSnapshot {
    var related: [PersistentIdentifier: any BackingData] = [:]
    return DefaultSnapshot(from: object.backing(), relatedBackingDatas: &related)
  }

  private func insert(_ snapshot: DefaultSnapshot) throws -> _ModelObject {
    let entity = snapshot.persistentIdentifier.entityName
    guard let info = container.core.prepared.info(named: entity) else {
      throw SwiftDataError.unknownSchema.about(
        "The schema of the store has no entity \(entity).", entity: entity)
    }
    let object = info.makeObject()
    context.context.insert(object)
    return object
  }

  private func existing(_ id: PersistentIdentifier) throws -> _ModelObject {
    let objectID = id.objectID ?? container.core.objectID(for: id)
    guard let objectID = objectID.flatMap(context.resolved),
      let object = try? context.context.existingObject(with: objectID) as? _ModelObject
    else {
      throw SwiftDataError(
        .unreadable, "The store has no model of \(id.entityName) with this identifier.", entity: id.entityName
      )
    }
    return object
  }

  private func set(
    _ snapshot: DefaultSnapshot, on object: _ModelObject, _ objects: [PersistentIdentifier: _ModelObject]
  ) throws {
    for property in snapshot.shape.properties {
      switch property.kind {
      case .attribute(_, nil):
        object.setValue(
          try TransformableCoding.decode(
            snapshot.values[property.name] as? Data,
            transformer: object.entity.attributesByName[property.name]?.valueTransformerName,
            entity: snapshot.shape.entity, property: property.name), forKey: property.name)
      case .attribute: object.setValue(snapshot.values[property.name], forKey: property.name)
      case .toOne, .toMany:
        guard let ids = snapshot.references[property.name],
          let ordinal = object.info.ordinal(named: property.name)
        else { continue }
        let others = ids.compactMap { id in objects[id] ?? (try? existing(id)) }
        if property.isToMany { object.setMany(ordinal, others) } else { object.setOne(ordinal, others.first) }
      }
    }
  }
}
