/// How the rows of one concrete entity stand in memory: which property has which slot, and which
/// cells hold its value.
///
/// Slots number all properties of the entity, inherited ones included, by name in code-point order;
/// transient attributes and to-many relationships have a slot and no cell. Cells are eight bytes
/// wide and follow the slots, so a property's first cell comes before those of later slots.
public final class RowLayout: Sendable {
  /// What one cell holds.
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

  /// One cell of a row: eight bytes, and for text and blobs the bytes in the arena that they point to.
  public struct Cell: Hashable, Sendable {
    /// Name of the property or composite element; helper cells of a relationship repeat its name.
    public var name: String
    /// What the cell's eight bytes mean.
    public var kind: CellKind
    /// The type of the attribute or leaf; `integer64` for the cells of a relationship.
    public var type: StoreAttributeType
    /// What the cell is for.
    public var role: Role
    /// Slot of the property that the cell belongs to.
    public var slot: Int
    /// Whether large values of the cell may be kept in files beside the store.
    public var allowsExternalStorage: Bool

    /// What a cell of a property is for: a relationship may have several.
    public enum Role: Hashable, Sendable {
      /// The value of an attribute or of a composite's leaf.
      case value
      /// The primary key of a to-one relationship's destination.
      case key
      /// The index of the destination's concrete entity, kept only where the declared destination
      /// has sub-entities.
      case entity
      /// The place in the owner's order, on the to-one side of an ordered to-many relationship.
      case order
    }
  }

  /// One property of the entity, its own or inherited.
  public struct Property: Hashable, Sendable {
    /// What a property is, with its description in the schema.
    public enum Kind: Hashable, Sendable {
      case attribute(StoreAttribute)
      case composite(StoreAttribute)
      case toOne(StoreRelationship)
      case toMany(StoreRelationship)
    }

    /// The property's name.
    public var name: String
    /// The property's place in ``RowLayout/properties``.
    public var slot: Int
    /// What the property is.
    public var kind: Kind
    /// Whether the property is not stored; it has no cells then.
    public var isTransient: Bool
    /// Index of the entity that declares the property: this one or an ancestor.
    public var declaringEntity: Int
    /// The cells of the property; empty for transient and to-many properties.
    public var cells: Range<Int>
  }

  /// The name of the entity.
  public let entityName: String
  /// Index of the entity in its ``ResolvedSchema``.
  public let entity: Int
  /// Index of the root of the entity's inheritance tree; keys are unique within it.
  public let root: Int
  /// All properties, in the order of their slots.
  public let properties: [Property]
  /// All cells, in the order of their indexes.
  public let cells: [Cell]
  private let slotsByName: [String: Int]

  /// Words before a row's cells: key, version, null bits.
  @usableFromInline let headWords: Int
  /// Words of one row.
  @usableFromInline let stride: Int
  @usableFromInline let nullWords: Int
  /// Cells whose contents lie in the arena.
  let arenaCells: [Int]

  init(entityName: String, entity: Int, root: Int, properties: [Property], cells: [Cell]) {
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

  /// The slot of a property, `nil` if the entity has none of this name. Costs one look-up in a hash table.
  public func slot(named name: String) -> Int? { slotsByName[name] }

  /// The property with this name, `nil` if the entity has none. Costs one look-up in a hash table.
  public func property(named name: String) -> Property? { slotsByName[name].map { properties[$0] } }
}
