/// The layout of a concrete entity's rows in memory: the slots of its properties, and the cells of their
/// values.
///
/// Slots number all properties of the entity, including inherited ones, by name in code-point order.
/// Transient attributes and to-many relationships have a slot and no cell. Cells have eight bytes and the
/// same order as slots, so a property's first cell precedes those of later slots.
public final class RowLayout: Sendable {
  /// The contents of a cell.
  public enum CellKind: UInt8, Sendable {
    /// A 64-bit integer: integers, booleans, keys.
    case integer
    /// A 64-bit floating-point number: doubles, floats, dates (seconds since 2001).
    case real
    /// UTF-8 text in the arena: strings, URLs, decimals.
    case text
    /// Bytes in the arena.
    case blob
  }

  /// One cell of a row: eight bytes. For text and blobs they refer to bytes in the arena.
  public struct Cell: Hashable, Sendable {
    /// Name of the property or composite element. Further cells of a relationship have the same name.
    public var name: String
    /// The meaning of the cell's eight bytes.
    public var kind: CellKind
    /// The type of the attribute or leaf; `integer64` for the cells of a relationship.
    public var type: StoreAttributeType
    /// The purpose of the cell.
    public var role: Role
    /// Slot of the property that the cell belongs to.
    public var slot: SlotIndex
    /// Whether large values of the cell may be stored in files outside the database.
    public var allowsExternalStorage: Bool

    /// The purpose of a cell. A relationship may have several cells.
    public enum Role: Hashable, Sendable {
      /// The value of an attribute or of a composite's leaf.
      case value
      /// The primary key of a to-one relationship's destination.
      case key
      /// The index of the destination's concrete entity. It exists only if the declared destination has
      /// sub-entities.
      case entity
      /// The position in the owner's order, on the to-one side of an ordered to-many relationship.
      case order
    }
  }

  /// One property of the entity, its own or inherited.
  public struct Property: Hashable, Sendable {
    /// The kind of a property, with its description in the schema.
    public enum Kind: Hashable, Sendable {
      case attribute(StoreAttribute)
      case composite(StoreAttribute)
      case toOne(StoreRelationship)
      case toMany(StoreRelationship)
    }

    /// The property's name.
    public var name: String
    /// The property's index in ``RowLayout/properties``.
    public var slot: SlotIndex
    /// The kind of the property.
    public var kind: Kind
    /// Whether the property is not stored. It then has no cells.
    public var isTransient: Bool
    /// Index of the entity that declares the property: this one or an ancestor.
    public var declaringEntity: EntityIndex
    /// The cells of the property; empty for transient and to-many properties.
    public var cells: Range<CellIndex>

    /// Whether the property is a relationship, to one or to many.
    public var isRelationship: Bool {
      switch kind {
      case .toOne, .toMany: true
      case .attribute, .composite: false
      }
    }
  }

  /// The name of the entity.
  public let entityName: String
  /// Index of the entity in its ``ResolvedSchema``.
  public let entity: EntityIndex
  /// Index of the root of the entity's inheritance tree; keys are unique within it.
  public let root: RootIndex
  /// All properties, in the order of their slots.
  public let properties: IndexedArray<SlotIndex, Property>
  /// All cells, in the order of their indexes.
  public let cells: IndexedArray<CellIndex, Cell>
  private let slotsByName: [String: SlotIndex]

  /// The number of words before a row's cells: key, version, null bits.
  @usableFromInline let headWords: Int
  /// The number of words of one row.
  @usableFromInline let stride: Int
  @usableFromInline let nullWords: Int
  /// Cells whose contents are in the arena.
  let arenaCells: [CellIndex]

  init(
    entityName: String, entity: EntityIndex, root: RootIndex, properties: IndexedArray<SlotIndex, Property>,
    cells: IndexedArray<CellIndex, Cell>
  ) {
    self.entityName = entityName
    self.entity = entity
    self.root = root
    self.properties = properties
    self.cells = cells
    slotsByName = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.slot) })
    nullWords = (cells.count + 63) / 64
    headWords = 2 + nullWords
    stride = headWords + cells.count
    arenaCells = cells.indices.filter { [.text, .blob].contains(cells[$0].kind) }
  }

  /// The slot of a property; `nil` if the entity has none with this name. Costs one look-up in a hash table.
  public func slot(named name: String) -> SlotIndex? { slotsByName[name] }

  /// The property with this name; `nil` if the entity has none. Costs one look-up in a hash table.
  public func property(named name: String) -> Property? { slotsByName[name].map { properties[$0] } }
}
