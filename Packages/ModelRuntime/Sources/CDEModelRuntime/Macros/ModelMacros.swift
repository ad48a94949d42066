/// Makes a class that inherits from `NSManagedObject`, or from another model, a model.
///
/// Its stored `var` properties of primitive types become attributes, those marked
/// ``Relationship(persistentName:inverse:deleteRule:minimumModelCount:maximumModelCount:)`` become
/// relationships, those marked ``Ignore()`` stay plain storage. The macro generates typed
/// accessors, `Keys`, `fetchRequest()`, the helpers and counts of to-many relationships, the schema
/// that models are built from at run time, and the conformance to `PersistentEntity`.
///
/// The arguments must be literals.
///
/// - Parameters:
///   - generateInit: Adds a convenience initialiser with every attribute and every ignored property, in
///     declaration order and without defaults. The object is made without a context.
///   - generateToManyCount: Adds `var xCount: Int` for each to-many relationship `x`.
///   - observation: With `.mainActor`, generated getters take part in Swift Observation.
///   - entityName: The entity's name; without it the name in `@objc(Name)` or
///     `@_objcRuntimeName(Name)`, and else the name of the class.
///   - isAbstract: Whether the entity has no objects but those of the models that inherit from the class.
@attached(memberAttribute)
@attached(member, names: arbitrary)
@attached(
  extension,
  conformances: PersistentEntity, CDRuntimeSchemaProviding, CDEObservable, CDEObservationFieldMapProviding,
  CDEObservationInvalidationDispatching)
public macro PersistentModel(
  generateInit: Bool = false, generateToManyCount: Bool = true,
  observation: PersistentModelObservationMode = .none, entityName: String? = nil, isAbstract: Bool = false
) = #externalMacro(module: "CDEMacros", type: "PersistentModelMacro")

/// Whether the getters of a model take part in Swift Observation.
public enum PersistentModelObservationMode: Sendable {
  /// They do not; nothing of Observation is generated.
  case none
  /// Reads on the main actor subscribe; saves and merges that reach the view context wake the readers
  /// of exactly the properties that changed.
  case mainActor
}
