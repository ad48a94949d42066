public import CDEStore
public import Foundation

/// A property of a frozen entity, with everything the object runtime asks for while it works.
@_spi(CDE) public struct FrozenProperty: Sendable {
  public enum Kind: UInt8, Sendable {
    case attribute
    case composite
    case toOne
    case toMany
  }

  public let name: String
  /// Position among the entity's properties, inherited included, by name: the slot of `RowLayout` and of
  /// every `PropertySet`.
  public let slot: Int
  public let kind: Kind
  /// Never nil when saved.
  public let isRequired: Bool
  public let isTransient: Bool
  /// What the value follows from; `nil` for a property that holds what it was given.
  public let derivation: StoreDerivation?
  /// Cells of the property in a row; empty for transient and to-many properties.
  public let cells: Range<Int>
  /// Index of the entity that declares the property.
  public let declaringEntity: Int
  /// The description; for an inherited property the one of the declaring entity.
  public let description: NSPropertyDescription

  // Attributes.
  /// What the attribute holds; `.undefined` for relationships.
  public let attributeType: StoreAttributeType
  /// What new objects start with; `.null` for relationships.
  public let defaultValue: AttributeConstant
  /// Name of the transformer of a transformable attribute; `nil` means secure unarchiving.
  public let transformerName: String?

  // Relationships.
  /// Index of the destination entity; -1 for attributes.
  public let destination: Int
  /// Slot of the inverse in the destination entity; -1 when there is none. Sub-entities of the destination
  /// may have the inverse in another slot: see ``FrozenModel/inverseSlot(of:in:destination:)``.
  public let inverseSlot: Int
  public let deleteRule: NSDeleteRule
  public let minCount: Int
  /// 0 or less for no limit.
  public let maxCount: Int
  public let isOrdered: Bool

  public var isAttribute: Bool { kind == .attribute || kind == .composite }
  public var isDerived: Bool { derivation != nil }
  public var isToMany: Bool { kind == .toMany }
  public var isRelationship: Bool { kind == .toOne || kind == .toMany }
  public var hasInverse: Bool { inverseSlot >= 0 }
}

/// An entity of a frozen model.
@_spi(CDE) public final class FrozenEntity: Sendable {
  /// Position in the model's `entities`, and in the `ResolvedSchema` of the whole model.
  public let index: Int
  public let name: String
  public let className: String
  public let isAbstract: Bool
  public let parent: Int?
  /// Index of the root of the inheritance tree.
  public let root: Int
  /// The entity and everything below it.
  public let subtree: Range<Int>
  public let layout: RowLayout
  public let versionHash: Data
  public let description: NSEntityDescription

  /// The properties by slot.
  public let properties: [FrozenProperty]

  /// Attributes, composites included.
  public let attributes: PropertySet
  public let toOnes: PropertySet
  public let toManys: PropertySet
  public let relationships: PropertySet
  public let transients: PropertySet
  /// Properties that may not be nil when saved; derived attributes are not among them.
  public let required: PropertySet
  /// Attributes with a default value.
  public let defaulted: PropertySet
  /// Attributes that a transformer encodes, not transient.
  public let transformables: PropertySet
  public let derived: PropertySet
  /// Relationships that deny the deletion of their owner, and those that delete with it.
  public let denying: PropertySet
  public let cascading: PropertySet
  /// Slots that must be unique together, inherited constraints first.
  public let uniqueness: [[Int]]

  private let slots: [String: Int]

  public func slot(named name: String) -> Int? { slots[name] }

  public func property(named name: String) -> FrozenProperty? { slots[name].map { properties[$0] } }

  /// Whether objects of this entity are objects of the entity with that index.
  public func isKind(of other: FrozenEntity) -> Bool { other.subtree.contains(index) }

  init(
    resolved: ResolvedSchema.Entity, description: NSEntityDescription, properties: [FrozenProperty],
    uniqueness: [[Int]], versionHash: Data
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
