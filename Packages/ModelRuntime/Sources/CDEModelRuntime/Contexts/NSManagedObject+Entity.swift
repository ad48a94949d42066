@_spi(CDE) internal import CDEExecutors
@_spi(CDE) public import CDEManagedModel
internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// The entity of this class.
  ///
  /// A class with a schema of its own uses the one live model that contains the class. Without such a model
  /// it uses a private model, and an object is bound again when it is inserted into a context of another
  /// model.
  ///
  /// - Precondition: for a class without a schema, the class is in a model that is in use, and in several only if its
  ///   entity is the same in all.
  public class func entity() -> NSEntityDescription {
    ManagedObjectClasses.register(self)
    let found = ModelBinding.live.compactMap { $0.binding(for: self) }
    if let only = found.first, found.count == 1 { return only.description }
    // Tests load one model file again and again. Its entities are alike, so any of them serves.
    if let first = found.first, Set(found.map(\.name)).count == 1,
      Set(found.map(\.description.versionHash)).count == 1,
      !(self is any CDRuntimeSchemaProviding.Type)
    {
      return first.description
    }
    if let provider = self as? any CDRuntimeSchemaProviding.Type {
      return OwnEntities.description(of: provider)
    }
    if found.isEmpty {
      failPrecondition(
        "No model in use has an entity for \(self). Load a container with its model first, or use init(context:)."
      )
    }
    failPrecondition(
      "\(found.count) models in use have an entity for \(self), so entity() can't choose one of them. "
        + "Use init(context:), or NSEntityDescription.entity(forEntityName:in:).")
  }

  /// A request for all objects of this class's entity.
  ///
  /// Of several models in use, for example two versions of one, the context that fetches decides whose entity it is, as long as all
  /// entities of the class have the same name.
  @_disfavoredOverload
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    ManagedObjectClasses.register(self)
    let found = ModelBinding.live.compactMap { $0.binding(for: self) }
    if Set(found.map(\.name)).count == 1, Set(found.map(\.description.versionHash)).count > 1 {
      return NSFetchRequest(entityName: found[0].name)
    }
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }
}

/// Entities of classes that are used before a model is loaded. Each class has one private model.
private enum OwnEntities {
  static func description(of type: any CDRuntimeSchemaProviding.Type) -> NSEntityDescription {
    let model: NSManagedObjectModel
    do {
      let parents = (type.__cdLineage?.levels ?? []).dropLast().map {
        ($0.type as NSObject.Type, withoutRelationships($0.schema))
      }
      model = try CDRuntimeModelBuilder.makeModel(
        schemas: parents + [(type, withoutRelationships(type.__cdRuntimeEntitySchema))],
        compositions: .dictionary)
      OwnBindings.keep(try ModelBinding.of(model))
    } catch {
      failPrecondition("The schema of \(type) can't be used: \(error)")
    }
    return model.entities[model.entities.count - 1]
  }

  private static func withoutRelationships(_ schema: CDRuntimeEntitySchema) -> CDRuntimeEntitySchema {
    CDRuntimeEntitySchema(
      entityName: schema.entityName, managedObjectClassName: schema.managedObjectClassName,
      attributes: schema.attributes,
      relationships: [], uniquenessConstraints: schema.uniquenessConstraints,
      parentEntityName: schema.parentEntityName, isAbstract: schema.isAbstract)
  }
}

extension NSEntityDescription {
  /// The entity of a name in a context's model, or nil.
  public static func entity(forEntityName name: String, in context: NSManagedObjectContext)
    -> NSEntityDescription?
  {
    context.modelBinding?.entity(named: name)?.description
  }

  /// Inserts a new object of an entity.
  ///
  /// - Precondition: the context's model has an entity of this name.
  public static func insertNewObject(forEntityName name: String, into context: NSManagedObjectContext)
    -> NSManagedObject
  {
    guard let binding = context.modelBinding?.entity(named: name) else {
      failPrecondition(
        "The model has no entity named \"\(name)\". \(Spelling.hint(name, context.modelBinding?.entities.map(\.name) ?? []))"
      )
    }
    return binding.objectClass.make(binding.description, in: context)
  }
}

extension NSManagedObject {
  /// Makes an object of an entity's class, and inserts it into a context if there is one.
  ///
  /// Rewritten sources call it for `NSManagedObject(entity:insertInto:)`: in Core Data the class that the model names supersedes
  /// the class of the call. Swift's initialiser makes an object of the class that is written.
  ///
  /// - Parameters:
  ///   - entity: an entity of a model in use; abstract entities trap when inserted.
  ///   - context: the context to insert into, on whose isolation the call runs.
  public static func _cdMade(
    entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) -> NSManagedObject {
    let inUse = context?.modelBinding?.binding(for: entity)
    // The initialiser of the base class says what is wrong with an entity that no model has.
    let type = (inUse ?? ownBinding(of: entity))?.objectClass ?? NSManagedObject.self
    return type.make(entity, in: context)
  }

  private static func ownBinding(of entity: NSEntityDescription) -> EntityBinding? {
    entity.managedObjectModel.flatMap { try? ModelBinding.of($0) }?.binding(for: entity)
  }
}
