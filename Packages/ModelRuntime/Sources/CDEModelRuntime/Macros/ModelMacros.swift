/// Makes a model of a class that inherits from `NSManagedObject` or from another model.
///
/// Its stored `var` properties of primitive types become attributes. Those marked
/// ``Relationship(persistentName:inverse:deleteRule:minimumModelCount:maximumModelCount:)`` become
/// relationships. Those marked ``Ignore()`` stay stored properties. The macro generates typed accessors,
/// `Keys`, `fetchRequest()`, the helpers and counts of to-many relationships, the schema from which models
/// are built at run time, and the conformance to `PersistentEntity`.
///
/// The arguments must be literals.
///
/// - Parameters:
///   - generateInit: Adds a convenience initialiser with all attributes and ignored properties, in
///     declaration order and without defaults. The object is made without a context.
///   - generateToManyCount: Adds `var xCount: Int` for each to-many relationship `x`.
///   - observation: With `.mainActor`, generated getters support Swift Observation.
///   - entityName: The entity's name; by default the name in `@objc(Name)` or `@_objcRuntimeName(Name)`,
///     otherwise the name of the class.
///   - isAbstract: Whether only models that inherit from the class have objects.
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

/// Whether the getters of a model support Swift Observation.
public enum PersistentModelObservationMode: Sendable {
  /// They do not. No code for Observation is generated.
  case none
  /// Reads on the main actor subscribe. Saves and merges that reach the view context wake only the readers of
  /// the properties that changed.
  case mainActor
}
