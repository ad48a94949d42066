public import CDEManagedModel

/// Says more about an attribute of a model than its declaration does.
///
/// - Parameters:
///   - traits: `.unique`, `.transient` (never both), and rules that values have to keep to be saved:
///     `.range(0...255)`, `.length(1...64)`, `.matching("[a-z]+")`.
///   - persistentName: The attribute's name in the store and in predicates; without it the property's
///     name. It must be a literal.
///   - storageMethod: How the value is stored; without it as it is. `.codable`, `.transformed` and
///     `.composition` need an optional property without a default other than nil.
///   - decodeFailurePolicy: What a getter does when what is stored is no value of the property's type, for
///     `.raw`, `.codable` and `.transformed`; without it ``AttributeDecodeFailurePolicy/fallbackToDefaultValue``.
@attached(accessor)
@attached(peer)
public macro Attribute(
  _ traits: AttributeTrait..., persistentName: String? = nil,
  storageMethod: AttributeStorageMethod? = nil,
  decodeFailurePolicy: AttributeDecodeFailurePolicy? = nil
) = #externalMacro(module: "CDEMacros", type: "AttributeMacro")

/// Keeps a stored property of a model out of the store.
@attached(peer)
public macro Ignore() = #externalMacro(module: "CDEMacros", type: "IgnoreMacro")

/// Makes a property of a model a relationship: `T?` to one object, `Set<T>` to many, `[T]` to many in
/// order, where `T` is a model.
///
/// - Parameters:
///   - persistentName: The relationship's name in the store and in predicates; without it the
///     property's name. It must be a literal.
///   - inverse: The persistent name of the relationship on the other side.
///   - deleteRule: What deleting this object does to the objects it points to.
///   - minimumModelCount: How few objects may be related; a non-negative literal.
///   - maximumModelCount: How many objects may be related; a non-negative literal, 0 for no limit.
@attached(peer)
public macro Relationship(
  persistentName: String? = nil, inverse: String, deleteRule: RelationshipDeleteRule,
  minimumModelCount: Int? = nil, maximumModelCount: Int? = nil
) = #externalMacro(module: "CDEMacros", type: "RelationshipMacro")

/// The accessors of an attribute without ``Attribute``. Attached by ``PersistentModel``, not by hand.
@attached(accessor)
public macro _CDAttribute() = #externalMacro(module: "CDEMacros", type: "DefaultAttributeMacro")

/// The accessors of a relationship. Attached by ``PersistentModel``, not by hand.
@attached(accessor)
public macro _CDRelationship() = #externalMacro(module: "CDEMacros", type: "RelationshipAccessorsMacro")
