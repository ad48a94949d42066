public import Observation

/// Observation's protocol, under a name that no class of an application has.
public typealias _ModelObservable = Observable

/// Makes a class a model: its stored `var` properties become attributes and relationships of an entity with the class's name.
///
/// The class may be final or not, and inherit from another model. Its initialisers are its own. A property whose type is a
/// model, an optional one or an array of models is a relationship; any other type must be `Codable`. Constants with a value,
/// computed properties and those marked ``Transient()`` are not stored. As in SwiftData.
@attached(
  member, conformances: Observable, PersistentModel, names: named(_$backing), named(_$info),
  named(_$Ordinal), named(_SwiftDataNoType), named(persistentBackingData), named(schemaMetadata), named(init),
  named(Root), named(_$object), named(_$propertyCount), named(_$propertyPaths),
  named(_$paths), named(_$isEqual), named(_$equality),
  named(_$backingData), named(_$observationRegistrar), named(_$Deprecated))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel)
public macro Model() = #externalMacro(module: "CDEMacros", type: "SwiftDataModelMacro")

/// Sets options of an attribute: `.unique`, `.externalStorage`, `.transformable(by:)` and others.
///
/// - Parameters:
///   - options: the options.
///   - originalName: the name in an earlier version of the schema, for a migration.
///   - hashModifier: makes the version hash of the entity another one.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "CDEMacros", type: "SwiftDataPropertyMarkerMacro")

/// Sets options of a relationship.
///
/// - Parameters:
///   - options: the options.
///   - deleteRule: what happens to related models when this one is deleted.
///   - minimumModelCount: the smallest number of related models.
///   - maximumModelCount: the largest number of related models; 0 for no limit.
///   - originalName: the name in an earlier version of the schema, for a migration.
///   - inverse: the property of the other side. It is found by itself if only one property can be it.
///   - hashModifier: makes the version hash of the entity another one.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "CDEMacros", type: "SwiftDataPropertyMarkerMacro")

/// Leaves a property of a model out of the store. It needs a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "CDEMacros", type: "TransientMacro")

/// The accessors of a persisted property. ``Model()`` attaches it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty() = #externalMacro(module: "CDEMacros", type: "PersistedPropertyMacro")

/// Makes properties of a model unique: each list is a constraint.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "CDEMacros", type: "SwiftDataConstraintMacro")

/// Adds indexes to the store of a model: each list is an index.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "CDEMacros", type: "SwiftDataConstraintMacro")

/// Adds indexes of a kind to the store of a model.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "CDEMacros", type: "SwiftDataConstraintMacro")

/// Gives an actor its own model context, on whose executor the actor's code runs.
///
/// Adds `modelExecutor`, `modelContainer` and `init(modelContainer:)`. Calls never run on the main actor, wherever the actor
/// was made.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "CDEMacros", type: "SwiftDataActorMacro")
