@_spi(CDE) public import CDEPredicates
public import CDEStore
public import Foundation

/// A property of a frozen entity, with all facts that the object runtime needs at run time.
@_spi(CDE) public struct FrozenProperty: Sendable {
  /// The kind of a property's value: a value, a composite of values, one object or several.
  public enum Kind: UInt8, Sendable {
    case attribute
    case composite
    case toOne
    case toMany
  }

  /// The property's name in the model and in key-value coding.
  public let name: String
  /// Position by name among the entity's properties, including inherited ones: the slot of `RowLayout` and of
  /// each `PropertySet`.
  public let slot: SlotIndex
  /// The kind of the property. Derived and transformable attributes have the kind `attribute`.
  public let kind: Kind
  /// Whether the property must not be nil when saved.
  public let isRequired: Bool
  /// Whether the property is kept in memory only. It has a slot and no cell.
  public let isTransient: Bool
  /// The derivation of the value; `nil` for a property that is not derived.
  public let derivation: StoreDerivation?
  /// Cells of the property in a row; empty for transient and to-many properties.
  public let cells: Range<CellIndex>
  /// Index of the entity that declares the property.
  public let declaringEntity: EntityIndex
  /// The description. An inherited property has that of the declaring entity.
  public let description: NSPropertyDescription

  // Attributes.
  /// The type of the attribute's values; `.undefined` for relationships.
  public let attributeType: StoreAttributeType
  /// The initial value of new objects; `.null` for relationships.
  public let defaultValue: AttributeConstant
  /// Name of the transformer of a transformable attribute; `nil` means secure unarchiving.
  public let transformerName: String?

  // Relationships.
  /// Index of the destination entity; -1 for attributes.
  public let destination: EntityIndex
  /// Slot of the inverse in the destination entity; -1 when there is none. Sub-entities of the destination
  /// may have the inverse in another slot: see ``FrozenModel/inverseSlot(of:in:destination:)``.
  public let inverseSlot: SlotIndex
  /// What happens to the related objects when the owner is deleted; no action for attributes.
  public let deleteRule: NSDeleteRule
  /// The minimum number of related objects if there are any; 0 for no limit and for attributes. Validation
  /// checks it.
  public let minCount: Int
  /// The maximum number of related objects; 0 or less for no limit.
  public let maxCount: Int
  /// Whether the property is a to-many relationship with an order.
  public let isOrdered: Bool

  /// Whether the property is an attribute, composites included.
  public var isAttribute: Bool { kind == .attribute || kind == .composite }
  /// Whether a save computes the value from other properties (``derivation``).
  public var isDerived: Bool { derivation != nil }
  /// Whether the property is a to-many relationship.
  public var isToMany: Bool { kind == .toMany }
  /// Whether the property is a to-one or to-many relationship.
  public var isRelationship: Bool { kind == .toOne || kind == .toMany }
  /// Whether the relationship has an inverse; `false` for attributes.
  public var hasInverse: Bool { inverseSlot >= 0 }
}

/// An entity of a frozen model.
@_spi(CDE) public final class FrozenEntity: Sendable {
  /// Position in the model's `entities`, and in the `ResolvedSchema` of the whole model.
  public let index: EntityIndex
  /// The entity's name in the model.
  public let name: String
  /// Name of the class of the entity's objects in the model; by default `NSManagedObject`.
  public let className: String
  /// Whether only the sub-entities have objects, and this entity has none.
  public let isAbstract: Bool
  /// Index of the entity that this one inherits from; `nil` for a root.
  public let parent: EntityIndex?
  /// Index of the root of the inheritance tree.
  public let root: RootIndex
  /// The indexes of the entity and all entities below it.
  public let subtree: Range<EntityIndex>
  /// The slots and cells of the entity's properties in a row, including inherited ones.
  public let layout: RowLayout
  /// Core Data's version hash of the entity, 32 bytes.
  public let versionHash: Data
  public let description: NSEntityDescription

  /// The properties by slot.
  public let properties: IndexedArray<SlotIndex, FrozenProperty>

  /// Attributes, composites included.
  public let attributes: PropertySet
  /// To-one relationships.
  public let toOnes: PropertySet
  /// To-many relationships, ordered and unordered.
  public let toManys: PropertySet
  /// Relationships, to-one and to-many.
  public let relationships: PropertySet
  /// Properties that are kept in memory only.
  public let transients: PropertySet
  /// Properties that must not be nil when saved, except derived attributes.
  public let required: PropertySet
  /// Attributes with a default value.
  public let defaulted: PropertySet
  /// Attributes that a transformer encodes, except transient ones.
  public let transformables: PropertySet
  /// Attributes that a save computes from other properties.
  public let derived: PropertySet
  /// Relationships that deny the deletion of their owner.
  public let denying: PropertySet
  /// Relationships whose objects are deleted with their owner.
  public let cascading: PropertySet
  /// Slots whose combined values must be unique, inherited constraints first.
  public let uniqueness: [[SlotIndex]]

  private let slots: [String: SlotIndex]

  /// The slot of the property with this name, including inherited ones; `nil` when there is none. Costs one
  /// hash look-up.
  public func slot(named name: String) -> SlotIndex? { slots[name] }

  /// The property with this name, including inherited ones; `nil` when there is none. Costs one hash look-up.
  public func property(named name: String) -> FrozenProperty? { slots[name].map { properties[$0] } }

  /// Whether objects of this entity are also objects of the other entity.
  public func isKind(of other: FrozenEntity) -> Bool { other.subtree.contains(index) }

  init(
    resolved: ResolvedSchema.Entity, description: NSEntityDescription,
    properties: IndexedArray<SlotIndex, FrozenProperty>,
    uniqueness: [[SlotIndex]], versionHash: Data
  ) {
    index = resolved.index
    name = resolved.source.name
    className = description.managedObjectClassName ?? "NSManagedObject"
    isAbstract = resolved.source.isAbstract
    parent = resolved.parent
    root = resolved.root
    subtree = resolved.subtree
    layout = resolved.layout
    self.versionHash = versionHash
    self.description = description
    self.properties = properties
    self.uniqueness = uniqueness

    func set(_ belongs: (FrozenProperty) -> Bool) -> PropertySet {
      PropertySet(properties.lazy.filter(belongs).map(\.slot))
    }
    attributes = set(\.isAttribute)
    toOnes = set { $0.kind == .toOne }
    toManys = set { $0.kind == .toMany }
    relationships = set(\.isRelationship)
    transients = set(\.isTransient)
    required = set(\.isRequired)
    defaulted = set { !$0.defaultValue.isNull }
    transformables = set { $0.attributeType == .transformable && !$0.isTransient }
    derived = set(\.isDerived)
    denying = set { $0.isRelationship && $0.deleteRule == .denyDeleteRule }
    cascading = set { $0.isRelationship && $0.deleteRule == .cascadeDeleteRule }
    slots = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.slot) })
  }
}
