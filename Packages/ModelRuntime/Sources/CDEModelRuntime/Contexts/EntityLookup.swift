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
  /// - Precondition: for a class without a schema, exactly one live model contains the class.
  public class func entity() -> NSEntityDescription {
    ManagedObjectClasses.register(self)
    let found = ModelBinding.live.compactMap { $0.binding(for: self) }
    if let only = found.first, found.count == 1 { return only.description }
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
  @_disfavoredOverload
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
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
    return binding.objectClass.init(entity: binding.description, insertInto: context)
  }
}
