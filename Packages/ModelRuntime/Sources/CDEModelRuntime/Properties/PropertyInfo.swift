@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// One property of an entity, with all facts needed to read, write, validate and delete.
///
/// A class, because inner loops pass it around. A copy of so many fields costs more than the work done with
/// them.
final class PropertyInfo: @unchecked Sendable {
  // Guard: made while the model is bound and never changed afterwards. A default value that is an object
  // belongs to the model and is immutable with it.
  enum Kind: Sendable, Equatable {
    case attribute(StoreAttributeType)
    case composite
    case toOne
    case toMany(ordered: Bool)
  }

  enum DeleteRule: Sendable { case noAction, nullify, cascade, deny }

  let name: String
  let slot: SlotIndex
  let kind: Kind
  let isOptional: Bool
  let isTransient: Bool
  /// Whether generated accessors may read the cell without conversion.
  let isDirect: Bool
  /// The property's cells; empty without a column.
  let cells: Range<CellIndex>
  /// The elements of a composite.
  let elements: [StoreAttribute]
  /// The values of a composite that have a cell each.
  let leaves: [StoreAttribute]
  let defaultValue: _PropertyValue
  let transformerName: String?
  let allowsExternalStorage: Bool
  /// The derivation of a derived attribute.
  let derivation: StoreDerivation?
  /// Rules that values must satisfy to be saved.
  let rules: [ValidationRule]

  // Relationships
  let destination: EntityIndex
  /// The destination and its sub-entities, by index.
  let destinations: Range<EntityIndex>
  let inverseSlot: SlotIndex?
  let inverseIsToMany: Bool
  let inverseIsOrdered: Bool
  /// Whether this is a to-many relationship with an order.
  let isOrdered: Bool
  let deleteRule: DeleteRule
  let minCount: Int
  let maxCount: Int
  /// Whether the pairs are stored outside the rows: many-to-many, or to-many without an inverse.
  let usesLinks: Bool

  init(_ property: FrozenProperty, in entity: EntityIndex, schema: ResolvedSchema) {
    name = property.name
    slot = property.slot
    isOptional = !property.isRequired
    isTransient = property.isTransient
    cells = property.cells
    transformerName = property.transformerName
    derivation = property.derivation
    rules = ValidationRule.rules(of: property.description)
    defaultValue = _PropertyValue(property.defaultValue)
    var elements: [StoreAttribute] = []
    var isExternal = false
    var isDirect = false
    switch schema.entities[entity].layout.properties[property.slot].kind {
    case .attribute(let attribute):
      kind = .attribute(attribute.type)
      isExternal = attribute.allowsExternalStorage
      isDirect = !property.cells.isEmpty && !isExternal && attribute.type != .transformable
    case .composite(let attribute):
      kind = .composite
      elements = attribute.elements
    case .toOne:
      kind = .toOne
    case .toMany(let relationship):
      kind = .toMany(ordered: relationship.isOrdered)
    }
    isOrdered = kind == .toMany(ordered: true)
    self.elements = elements
    leaves = elements.flatMap(\.leaves)
    self.isDirect = isDirect
    allowsExternalStorage = isExternal
    let end = property.isRelationship ? schema.end(of: property.slot, in: entity) : nil
    destination = end?.destination ?? -1
    destinations = end.map { schema.entities[$0.destination].subtree } ?? 0..<0
    let endsInMany = end?.inverse?.isToMany ?? false
    let hasInverse = end?.inverseSlot != nil
    inverseSlot = end?.inverseSlot
    inverseIsToMany = endsInMany
    inverseIsOrdered = end?.inverse?.isOrdered ?? false
    usesLinks = property.isToMany && (!hasInverse || endsInMany)
    minCount = property.minCount
    maxCount = property.maxCount
    deleteRule =
      switch property.deleteRule {
      case .noActionDeleteRule: .noAction
      case .cascadeDeleteRule: .cascade
      case .denyDeleteRule: .deny
      default: .nullify
      }
  }

  /// A composite's leaf as a separate property.
  init(leaf: StoreAttribute, cell: CellIndex) {
    name = leaf.name
    slot = -1
    kind = .attribute(leaf.type)
    isOptional = leaf.isOptional
    isTransient = false
    isDirect = !leaf.allowsExternalStorage
    cells = cell..<(cell + 1)
    elements = []
    leaves = []
    defaultValue = .null
    transformerName = nil
    rules = []
    allowsExternalStorage = leaf.allowsExternalStorage
    derivation = nil
    destination = -1
    destinations = 0..<0
    inverseSlot = nil
    inverseIsToMany = false
    inverseIsOrdered = false
    isOrdered = false
    deleteRule = .nullify
    minCount = 0
    maxCount = 0
    usesLinks = false
  }

  var isRelationship: Bool { destination >= 0 }

  var isToMany: Bool {
    if case .toMany = kind { return true }
    return false
  }

  /// Cell of the to-one reference's concrete entity, if the layout has one.
  func entityCell(in layout: RowLayout) -> CellIndex? { cells.first { layout.cells[$0].role == .entity } }

  func orderCell(in layout: RowLayout) -> CellIndex? { cells.first { layout.cells[$0].role == .order } }

  /// Whether a save checks the number of the relationship's members.
  var countsMembers: Bool { isToMany && (minCount > 0 || maxCount > 0) }

  /// Whether each member's own row stores its membership. A change of the relationship is then a change of
  /// the member.
  var isOwnedByMembers: Bool { isToMany && inverseSlot != nil && !inverseIsToMany }

  /// Whether both rows of a pair refer to each other.
  var isOneToOne: Bool { kind == .toOne && inverseSlot != nil && !inverseIsToMany }
}
