@_spi(CDE) import CDESQL
import CDEStore

/// The properties of one entity in the terms of the history.
///
/// An update has a bit for each column of the entity, and one for each relationship to many. The order is Core Data's,
/// found on histories of its applications: the keys of relationships to one, the columns with their entities, the places
/// in orders, the attributes, the relationships to many. In each group the columns of a parent entity come first, and
/// those of one entity are ordered by the names of their properties.
struct HistoryEntity: Sendable {
  /// For each bit the property of its column.
  private let slots: [SlotIndex]
  /// The attributes whose values are kept when a row is deleted, with their columns. A composite has one for each leaf.
  let preserved: [Preserved]
  /// The attributes that triggers compute.
  let computed: PropertySet

  /// A column whose value is kept.
  struct Preserved: Sendable {
    let slot: SlotIndex
    let column: String
    /// The number of the leaf, and how many the composite has; nil for an attribute that is none.
    let leaf: (number: Int, count: Int)?
  }

  init(_ entity: ResolvedSchema.Entity, columns: IndexedArray<CellIndex, String>) {
    let layout = entity.layout
    // Sorting does not change the order of equal elements, and the layout has them by name.
    let properties = layout.properties.filter { !$0.isTransient }
      .sorted { $0.declaringEntity < $1.declaringEntity }
    var (references, entities, places): ([SlotIndex], [SlotIndex], [SlotIndex]) = ([], [], [])
    var (attributes, relationships): ([SlotIndex], [SlotIndex]) = ([], [])
    for property in properties {
      switch property.kind {
      case .attribute: attributes.append(property.slot)
      case .composite:
        attributes += Array(repeating: property.slot, count: max(property.cells.count, 1))
      case .toOne:
        for cell in property.cells {
          switch layout.cells[cell].role {
          case .entity: entities.append(property.slot)
          case .order: places.append(property.slot)
          case .key, .value: references.append(property.slot)
          }
        }
      case .toMany: relationships.append(property.slot)
      }
    }
    slots = references + entities + places + attributes + relationships
    var preserved: [Preserved] = []
    var computed = PropertySet()
    for property in layout.properties where !property.isTransient {
      switch property.kind {
      case .attribute(let attribute):
        if attribute.preservesValueOnDeletion, let cell = property.cells.first {
          preserved.append(Preserved(slot: property.slot, column: columns[cell], leaf: nil))
        }
        if attribute.derivation?.isKeptByStore == true { computed.insert(property.slot) }
      case .composite(let attribute) where attribute.preservesValueOnDeletion:
        for (number, cell) in property.cells.enumerated() {
          preserved.append(
            Preserved(
              slot: property.slot, column: columns[cell], leaf: (number, property.cells.count)))
        }
      default: continue
      }
    }
    self.preserved = preserved
    self.computed = computed
  }

  static func all(_ physical: PhysicalSchema) -> [HistoryEntity] {
    physical.schema.entities.filter { physical.held.contains($0.index) }
      .map { HistoryEntity($0, columns: physical.cellColumns[$0.index]) }
  }

  /// The length of the bits in bytes.
  var byteCount: Int { (slots.count + 7) / 8 }

  /// All properties that have bits.
  var properties: PropertySet { PropertySet(slots) }

  /// The bits of changed properties, the highest bit of the first byte first.
  func encode(_ properties: PropertySet) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    for (bit, slot) in slots.enumerated() where properties.contains(slot) {
      bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
    }
    return bytes
  }

  /// The properties of bits; nil if the bits have another length, so that their meaning is not known.
  func decode(_ bytes: UnsafeRawBufferPointer) -> PropertySet? {
    guard bytes.count == byteCount else { return nil }
    var properties = PropertySet()
    for (bit, slot) in slots.enumerated() where bytes[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
      properties.insert(slot)
    }
    return properties
  }
}
