#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// The properties of one entity in the terms of the history.
  struct HistoryEntity: Sendable {
    /// The attributes whose values are kept when a row is deleted, with the expressions that read them.
    let preserved: [(slot: SlotIndex, name: String, type: SQLKind, expression: String)]
    /// All stored properties.
    let properties: PropertySet
    private let slotCount: Int
    /// The length of the bits.
    let byteCount: Int
    private let layout: RowLayout

    init(_ entity: ResolvedSchema.Entity, _ physical: PhysicalSchema) {
      layout = entity.layout
      slotCount = layout.properties.count
      byteCount = (slotCount + 7) / 8
      properties = PropertySet(layout.properties.lazy.filter { !$0.isTransient }.map(\.slot))
      var preserved: [(slot: SlotIndex, name: String, type: SQLKind, expression: String)] = []
      func preserve(_ slot: SlotIndex, _ name: String, _ attribute: StoreAttribute, _ cell: CellIndex) {
        let type = SQLKind(attribute.type)
        preserved.append((slot, name, type, type.read(quoted(physical.cellColumns[entity.index][cell]))))
      }
      for property in layout.properties {
        switch property.kind {
        case .attribute(let attribute) where attribute.preservesValueOnDeletion:
          if let cell = property.cells.first { preserve(property.slot, property.name, attribute, cell) }
        case .composite(let attribute) where attribute.preservesValueOnDeletion:
          for (number, (leaf, cell)) in zip(attribute.leaves, property.cells).enumerated() {
            preserve(property.slot, "\(property.name).\(number)", leaf, cell)
          }
        default: continue
        }
      }
      self.preserved = preserved
    }

    /// A bit for each property by name, the highest bit of the first byte first. No program of Core Data reads them, so
    /// they need not have the order of its columns.
    func encode(_ properties: PropertySet) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: byteCount)
      for slot in properties where slot.rawValue < slotCount {
        bytes[slot.rawValue / 8] |= 0x80 >> UInt8(slot.rawValue % 8)
      }
      return bytes
    }

    /// The properties of bits; nil if the bits have another length, so that their meaning is not known.
    func decode(_ bytes: UnsafeRawBufferPointer) -> PropertySet? {
      guard bytes.count == byteCount else { return nil }
      var properties = PropertySet()
      for slot in 0..<slotCount {
        let mask: UInt8 = 0x80 >> UInt8(slot % 8)
        if bytes[slot / 8] & mask != 0 { properties.insert(SlotIndex(slot)) }
      }
      return properties
    }

    /// The preserved values of a row as a property list, by the names of the properties; nil without a value.
    ///
    /// - Parameter first: the column of the first preserved attribute.
    func tombstone(_ rows: borrowing ResultRows, _ row: Int, from first: Int32) throws(StoreError) -> [UInt8]?
    {
      var values: [String: StoreMetadata.Value] = [:]
      for (place, attribute) in preserved.enumerated() {
        let column = first + Int32(place)
        if rows.isNull(row, column) { continue }
        values[attribute.name] = Self.value(rows, row, column, attribute.type)
      }
      return values.isEmpty ? nil : Array(try PropertyList.encode(StoreMetadata(values: values)))
    }

    private static func value(
      _ rows: borrowing ResultRows, _ row: Int, _ column: Int32, _ type: SQLKind
    ) -> StoreMetadata.Value {
      switch type {
      case .integer: return .integer(rows.integer(row, column))
      case .boolean: return .integer(rows.boolean(row, column) ? 1 : 0)
      case .real: return .real(rows.double(row, column))
      case .text, .decimal: return .string(rows.text(row, column) ?? "")
      case .uuid, .bytes: return .data(Array(rows.bytes(row, column)))
      }
    }

    /// Gives a change the values of its tombstone. Names that the schema lacks are left out.
    func read(_ bytes: UnsafeRawBufferPointer, into change: inout StoreHistoryChange) throws(StoreError) {
      let list = try PropertyList.decode(
        Data(bytes), of: "ACHANGE.ZTOMBSTONE", remedy: "Restore it from a backup.")
      for (name, value) in list.values {
        guard let value = Self.storeValue(value) else { continue }
        // The name of a composite's leaf ends with its number.
        let parts = name.split(separator: ".")
        guard let slot = layout.slot(named: String(parts[0])) else { continue }
        if parts.count == 1 {
          change.tombstone[slot] = value
        } else if let number = Int(parts[1]), layout.properties[slot].cells.count > number {
          let none = [StoreValue](repeating: .null, count: layout.properties[slot].cells.count)
          change.compositeTombstone[slot, default: none][number] = value
        }
      }
    }

    private static func storeValue(_ value: StoreMetadata.Value) -> StoreValue? {
      switch value {
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .string(let value): .text(value)
      case .data(let value): .blob(Data(value))
      case .boolean, .date, .array, .dictionary: nil
      }
    }
  }
#endif
