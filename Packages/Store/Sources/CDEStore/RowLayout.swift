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

  public struct Cell: Hashable, Sendable {
    /// Name of the property or composite element; helper cells of a relationship repeat its name.
    public var name: String
    public var kind: CellKind
    public var type: StoreAttributeType
    public var role: Role
    public var slot: Int
    public var allowsExternalStorage: Bool

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

  public struct Property: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      case attribute(StoreAttribute)
      case composite(StoreAttribute)
      case toOne(StoreRelationship)
      case toMany(StoreRelationship)
    }

    public var name: String
    public var slot: Int
    public var kind: Kind
    public var isTransient: Bool
    /// Index of the entity that declares the property: this one or an ancestor.
    public var declaringEntity: Int
    /// The cells of the property; empty for transient and to-many properties.
    public var cells: Range<Int>
  }

  public let entityName: String
  /// Index of the entity in its ``ResolvedSchema``.
  public let entity: Int
  /// Index of the root of the entity's inheritance tree; keys are unique within it.
  public let root: Int
  public let properties: [Property]
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

  public func slot(named name: String) -> Int? { slotsByName[name] }

  public func property(named name: String) -> Property? { slotsByName[name].map { properties[$0] } }
}
