@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// A schema in the runtime's form, with the class of each entity.
///
/// Instances without a context are objects of such a model, too. They take the one that the last container with their class was
/// made with, and the model of their class alone if there is none. An insertion into another container brings them there.
final class PreparedSchema: @unchecked Sendable {
  // Guard: immutable after `prepare`, which makes it.
  let model: NSManagedObjectModel
  private let infos: [String: _ModelInfo]
  /// One object of each entity that has objects. It makes the class of the entity's objects known, and keeps the model.
  private let prototypes: [_ModelObject]
  /// Make copies of these, by the facts of the class.
  private let makers: [ObjectIdentifier: LooseObjects]
  private let entities: [ObjectIdentifier: NSEntityDescription]

  private struct Table {
    var byModel: [ObjectIdentifier: PreparedSchema] = [:]
    /// Schemas of the same classes share one model, so that containers do, and models without a context fit them.
    var byKey: [Key: PreparedSchema] = [:]
    /// The schema that new instances of a class take.
    var byClass: [ObjectIdentifier: PreparedSchema] = [:]
    /// The class of an entity's name in the last container that has one, for snapshots that are decoded outside of containers.
    var byName: [String: _ModelInfo] = [:]
  }

  private static let table = Lock(Table())

  /// The prepared form of a schema for a container. New instances of its classes take it from now on.
  ///
  /// - Parameter configurations: the entities of each store by the name of its configuration; empty for one store.
  static func prepare(
    _ schema: Schema, _ configurations: [String: Set<String>] = [:]
  ) throws -> PreparedSchema {
    let prepared = try known(schema, configurations)
    prepared.serve()
    return prepared
  }

  /// Lets new instances of the classes be of this schema.
  func serve() {
    Self.table.withLock { table in
      for (name, info) in infos {
        table.byClass[ObjectIdentifier(info.type)] = self
        table.byName[name] = info
        serve(info)
      }
    }
  }

  /// What two schemas have in common that may share a model: their classes, and which entities each store has.
  private struct Key: Hashable {
    let version: String
    let classes: Set<ObjectIdentifier>
    let configurations: [String: Set<String>]
  }

  private static func known(
    _ schema: Schema, _ configurations: [String: Set<String>] = [:]
  ) throws -> PreparedSchema {
    let types = schema.modelTypes
    let key = Key(
      version: schema.version.description, classes: Set(types.values.map { ObjectIdentifier($0) }),
      configurations: configurations)
    if let known = table.withLock({ $0.byKey[key] }) { return known }
    if let entity = schema.entities.first(where: { types[$0.name] == nil }) {
      throw SwiftDataError(
        .invalidSchema,
        "The entity \(entity.name) of the schema has no class. Make the schema of a container from classes with @Model.",
        entity: entity.name)
    }
    var model = try schema.managedObjectModel()
    if !configurations.isEmpty { model = try model.divided(configurations) }
    // Without a lock, because default values may make instances. If another thread was faster, its schema counts.
    defer { beingPrepared.withLock { $0[ObjectIdentifier(model)] = nil } }
    let made = try PreparedSchema(model, types)
    return table.withLock { table in
      // Also if another thread was faster: equal models share what they are bound to, so its objects may have this model's entities.
      table.byModel[ObjectIdentifier(model)] = made
      if let known = table.byKey[key] { return known }
      table.byKey[key] = made
      return made
    }
  }

  private init(_ model: NSManagedObjectModel, _ types: [String: any PersistentModel.Type]) throws {
    self.model = model
    let infos = types.mapValues { _ModelInfo.known($0) }
    self.infos = infos
    // The class of an entity's objects asks for its properties while the first object is made.
    Self.beingPrepared.withLock { $0[ObjectIdentifier(model)] = infos }
    var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    var prototypes: [_ModelObject] = []
    var makers: [ObjectIdentifier: LooseObjects] = [:]
    for entity in model.entities {
      guard let info = entity.name.flatMap({ infos[$0] }) else { continue }
      entities[ObjectIdentifier(info)] = entity
      if entity.isAbstract { continue }
      let prototype = _ModelObject(entity: entity, insertInto: nil)
      // Its copies know the class, too.
      makers[ObjectIdentifier(prototype.info)] = LooseObjects(copying: prototype)
      prototypes.append(prototype)
    }
    self.entities = entities
    self.prototypes = prototypes
    self.makers = makers
  }

  /// Lets new instances of a class be of this schema.
  private func serve(_ info: _ModelInfo) {
    let maker = makers[ObjectIdentifier(info)]
    info.objects.withLock { $0 = maker }
  }

  private static let beingPrepared = Lock<[ObjectIdentifier: [String: _ModelInfo]]>([:])

  // MARK: Looking up

  /// The facts of the class of an entity's objects.
  static func info(of entity: NSEntityDescription) -> _ModelInfo {
    guard let model = entity.managedObjectModel, let name = entity.name else {
      fatalError("An entity of a prepared schema belongs to a model.")
    }
    let id = ObjectIdentifier(model)
    let known = table.withLock { $0.byModel[id]?.infos[name] } ?? beingPrepared.withLock { $0[id]?[name] }
    guard let known else { fatalError("The entity \(name) was prepared from a class.") }
    return known
  }

  /// The entity of a class; nil if the schema does not have the class.
  func entity(of info: _ModelInfo) -> NSEntityDescription? { entities[ObjectIdentifier(info)] }

  /// The facts of the class of an entity; nil if the schema does not have the entity.
  func info(named entity: String) -> _ModelInfo? { infos[entity] }

  /// The facts of the class of an entity in the container that was made last; nil if no container had the entity.
  static func lastInfo(named entity: String) -> _ModelInfo? { table.withLock { $0.byName[entity] } }

  /// Makes the object of an instance that no context has.
  static func object(of info: _ModelInfo) -> _ModelObject {
    let schema = table.withLock { $0.byClass[ObjectIdentifier(info.type)] } ?? own(info)
    guard let entity = schema.entity(of: info) else {
      fatalError("The schema of \(info.type) has the class.")
    }
    return _ModelObject(entity: entity, insertInto: nil)
  }

  /// The schema of a class that no container has.
  private static func own(_ info: _ModelInfo) -> PreparedSchema {
    do {
      let prepared = try known(Schema([info.type]))
      table.withLock { table in
        for other in prepared.infos.values where table.byClass[ObjectIdentifier(other.type)] == nil {
          table.byClass[ObjectIdentifier(other.type)] = prepared
          prepared.serve(other)
        }
      }
      return prepared
    } catch {
      failPrecondition(
        "No instance of \(info.type) can be made, because its declaration makes no schema: \(error)")
    }
  }
}

extension NSManagedObjectModel {
  /// A copy of the model with a configuration for each store.
  fileprivate func divided(_ configurations: [String: Set<String>]) throws -> NSManagedObjectModel {
    guard let copy = self.copy() as? NSManagedObjectModel else { return self }
    for (name, entities) in configurations {
      copy.setEntities(copy.entities.filter { entities.contains($0.name ?? "") }, forConfigurationName: name)
    }
    return copy
  }
}
