@_spi(CDE) import CDESQL
import CDEStore

/// The tables of a file's history, which are Core Data's.
///
/// `ATRANSACTION` has a row for each commit, `ACHANGE` one for each changed row. Authors and the like are numbers of rows
/// in `ATRANSACTIONSTRING`; older files have them as text in `ATRANSACTION`.
struct HistoryTables: Sendable {
  static let changes = "ACHANGE"
  static let transactions = "ATRANSACTION"
  static let strings = "ATRANSACTIONSTRING"

  /// Numbers of the tables in `Z_PRIMARYKEY`.
  enum Number: Int64 {
    case change = 16001
    case transaction = 16002
    case string = 16003
  }

  /// The columns of a transaction's texts, without the suffix `TS` of those that refer to strings.
  static let textColumns = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

  /// Whether texts are rows of `ATRANSACTIONSTRING`.
  let hasStrings: Bool
  /// Whether updates say which columns changed.
  let hasColumns: Bool
  /// The number of columns for values of deleted rows.
  let tombstoneCount: Int
  /// The properties of entities in the history's terms.
  let entities: IndexedArray<EntityIndex, HistoryEntity>
}

/// The properties of one entity in the terms of the history.
///
/// The bits of an update number the properties by name. A property has a bit for each of its columns, and a to-many
/// relationship has one.
struct HistoryEntity: Sendable {
  /// For each slot its bits.
  let bits: IndexedArray<SlotIndex, Range<Int>>
  /// The length of the bits in bytes.
  let byteCount: Int
  /// The attributes whose values are kept when a row is deleted, with their columns.
  let preserved: [(slot: SlotIndex, column: String)]
  /// The attributes that triggers compute.
  let computed: PropertySet

  init(_ entity: ResolvedSchema.Entity, columns: IndexedArray<CellIndex, String>) {
    var next = 0
    var preserved: [(slot: SlotIndex, column: String)] = []
    var computed = PropertySet()
    bits = entity.layout.properties.mapped { property in
      guard !property.isTransient else { return next..<next }
      var count = 1
      switch property.kind {
      case .attribute(let attribute):
        if attribute.preservesValueOnDeletion, let cell = property.cells.first {
          preserved.append((property.slot, columns[cell]))
        }
        if attribute.derivation?.isKeptByStore == true { computed.insert(property.slot) }
      case .composite: count = max(property.cells.count, 1)
      case .toOne: count = property.cells.contains { entity.layout.cells[$0].role == .entity } ? 2 : 1
      case .toMany: break
      }
      defer { next += count }
      return next..<(next + count)
    }
    byteCount = (next + 7) / 8
    self.preserved = preserved
    self.computed = computed
  }

  static func all(_ physical: PhysicalSchema) -> [HistoryEntity] {
    physical.schema.entities.filter { physical.held.contains($0.index) }
      .map { HistoryEntity($0, columns: physical.cellColumns[$0.index]) }
  }

  /// The bits of changed properties, the highest bit of the first byte first.
  func encode(_ properties: PropertySet) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    for slot in properties where bits.indices.contains(slot) {
      for bit in bits[slot] { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    }
    return bytes
  }

  /// The properties of bits; nil if the bits have another length, so that their meaning is not known.
  func decode(_ bytes: UnsafeRawBufferPointer) -> PropertySet? {
    guard bytes.count == byteCount else { return nil }
    var properties = PropertySet()
    for (slot, range) in zip(bits.indices, bits)
    where range.contains(where: { bytes[$0 / 8] & (0x80 >> UInt8($0 % 8)) != 0 }) {
      properties.insert(slot)
    }
    return properties
  }
}
