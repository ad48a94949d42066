internal import CDEStore

/// The slots of an entity, grouped by the work of a save.
struct SavedSlots: Sendable {
  /// Properties with columns.
  var withCells = PropertySet()
  var transient = PropertySet()
  var toMany = PropertySet()
  /// To-many relationships in tables whose delete rule concerns all members, loaded or not.
  var emptied = PropertySet()
  /// To-one relationships whose other side is to-one, too.
  var oneToOne = PropertySet()
  /// Relationships whose members keep their reference to a deleted owner.
  var kept = PropertySet()
  /// To-many relationships whose order is stored in the members' rows.
  var ordered = PropertySet()
  /// To-many relationships whose pairs are stored outside the rows.
  var linked = PropertySet()
  /// Relationships that are stored.
  var relationships = PropertySet()
  /// To-many relationships without an inverse.
  var oneWay = PropertySet()
  /// To-one relationships whose other side is to-many.
  var owned = PropertySet()
  /// Attributes whose value is written into one cell unchanged.
  var plain: [PlainColumn] = []
  /// The slots of the other properties with columns.
  var others: [SlotIndex] = []
  /// Slots of attributes that must not be null and need no other validation.
  var required: [SlotIndex] = []
  /// Numbers whose column can't represent every value that the property can be set to.
  var bounded: [BoundedColumn] = []
  /// Properties that need further validation.
  var validated = PropertySet()

  struct PlainColumn {
    var slot: SlotIndex
    var cell: CellIndex
    var isReal: Bool
  }

  struct BoundedColumn {
    var slot: SlotIndex
    var least = Int64.min
    var greatest = Int64.max
    var limit = Double.infinity

    init?(_ info: PropertyInfo) {
      slot = info.slot
      guard case .attribute(let type) = info.kind, !info.isTransient, info.derivation == nil else {
        return nil
      }
      switch type {
      case .integer16: (least, greatest) = (Int64(Int16.min), Int64(Int16.max))
      case .integer32: (least, greatest) = (Int64(Int32.min), Int64(Int32.max))
      // The bound excludes infinity, which a column of 32 bits can hold. The validation accepts it.
      case .float: limit = Double(Float.greatestFiniteMagnitude)
      case .double, .date, .decimal: break
      default: return nil
      }
    }
  }

  init(_ properties: IndexedArray<SlotIndex, PropertyInfo>, _ layout: RowLayout) {
    bounded = properties.compactMap(BoundedColumn.init)
    for info in properties {
      if info.isPlain, let cell = info.cells.first {
        plain.append(PlainColumn(slot: info.slot, cell: cell, isReal: layout.cells[cell].kind == .real))
      } else if !info.cells.isEmpty {
        others.append(info.slot)
      }
      if info.needsValidation {
        validated.insert(info.slot)
      } else if !info.isRelationship, !info.isOptional, !info.isTransient {
        required.append(info.slot)
      }
      if !info.cells.isEmpty { withCells.insert(info.slot) }
      if info.isTransient { transient.insert(info.slot) }
      if info.isRelationship, !info.isTransient { relationships.insert(info.slot) }
      if info.inverseSlot != nil, info.deleteRule == .noAction { kept.insert(info.slot) }
      if info.isOneToOne, !info.isTransient { oneToOne.insert(info.slot) }
      if info.isToMany, !info.isTransient {
        toMany.insert(info.slot)
        if info.usesLinks, info.deleteRule == .cascade || info.deleteRule == .deny {
          emptied.insert(info.slot)
        }
      }
      if info.isOrdered, !info.usesLinks { ordered.insert(info.slot) }
      if info.usesLinks { linked.insert(info.slot) }
      if info.isToMany, info.inverseSlot == nil { oneWay.insert(info.slot) }
      if info.kind == .toOne, info.inverseIsToMany { owned.insert(info.slot) }
    }
  }
}

extension PropertyInfo {
  /// Whether a save writes the property's value into its one cell, whatever the state of the object.
  fileprivate var isPlain: Bool {
    guard case .attribute(let type) = kind, type != .transformable else { return false }
    return cells.count == 1 && !allowsExternalStorage && derivation == nil
  }

  /// Whether validation must check more than a missing value.
  fileprivate var needsValidation: Bool {
    switch kind {
    case .attribute(let type): !rules.isEmpty || (type == .transformable && !isTransient)
    case .composite: !isTransient
    case .toOne: !isOptional && !isTransient
    case .toMany: countsMembers
    }
  }
}
