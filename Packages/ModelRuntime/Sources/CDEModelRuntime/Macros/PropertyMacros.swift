public import CDEManagedModel

/// Sets options of an attribute of a model.
///
/// - Parameters:
///   - traits: `.unique`, `.transient` (never both), and rules that saved values must satisfy:
///     `.range(0...255)`, `.length(1...64)`, `.matching("[a-z]+")`.
///   - persistentName: The attribute's name in the store and in predicates; by default the property's name.
///     It must be a literal.
///   - storageMethod: How the value is stored; by default unchanged. `.codable`, `.transformed` and
///     `.composition` need an optional property without a default other than nil.
///   - decodeFailurePolicy: What a getter does when the stored value is invalid for the property's type, for
///     `.raw`, `.codable` and `.transformed`; by default
///     ``AttributeDecodeFailurePolicy/fallbackToDefaultValue``.
@attached(accessor)
@attached(peer)
public macro Attribute(
  _ traits: AttributeTrait..., persistentName: String? = nil,
  storageMethod: AttributeStorageMethod? = nil,
  decodeFailurePolicy: AttributeDecodeFailurePolicy? = nil
) = #externalMacro(module: "CDEMacros", type: "AttributeMacro")

/// Excludes a stored property of a model from the store.
@attached(peer)
public macro Ignore() = #externalMacro(module: "CDEMacros", type: "IgnoreMacro")

/// Makes a property of a model a relationship: `T?` to one object, `Set<T>` to many, `[T]` to many in order.
/// `T` is a model.
///
/// - Parameters:
///   - persistentName: The relationship's name in the store and in predicates; by default the property's
///     name. It must be a literal.
///   - inverse: The persistent name of the relationship on the other side.
///   - deleteRule: The effect on the destination when this object is deleted.
///   - minimumModelCount: The smallest number of related objects; a non-negative literal.
///   - maximumModelCount: The largest number of related objects; a non-negative literal, 0 for no limit.
@attached(peer)
public macro Relationship(
  persistentName: String? = nil, inverse: String, deleteRule: RelationshipDeleteRule,
  minimumModelCount: Int? = nil, maximumModelCount: Int? = nil
) = #externalMacro(module: "CDEMacros", type: "RelationshipMacro")

/// The accessors of an attribute without ``Attribute``. ``PersistentModel`` attaches it; do not attach it by
/// hand.
@attached(accessor)
public macro _CDAttribute() = #externalMacro(module: "CDEMacros", type: "DefaultAttributeMacro")

/// The accessors of a relationship. ``PersistentModel`` attaches it; do not attach it by hand.
@attached(accessor)
public macro _CDRelationship() = #externalMacro(module: "CDEMacros", type: "RelationshipAccessorsMacro")
