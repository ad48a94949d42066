@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

extension DictionaryRequest {
  /// One result as a dictionary. As in Core Data, a key whose value is nil is left out.
  ///
  /// - Parameters:
  ///   - store: returns the store of a row.
  ///   - external: returns bytes that are kept outside the rows of an entity.
  func dictionary(
    _ rows: ProjectedRows, _ row: Int, store: (EntityBinding, Int64) -> StoreHandle?,
    external: (ExternalValue, EntityBinding) throws -> [UInt8]
  ) throws -> NSDictionary {
    let result = NSMutableDictionary(capacity: entries.count)
    for entry in entries {
      let value: Any?
      switch entry.reading {
      case .value(let type):
        let stored = rows[row, entry.column]
        value = stored.plain(as: type)
        if value == nil, stored.exceedsIntegers, entry.isComputed,
          [.integer16, .integer32, .integer64].contains(type)
        {
          throw ManagedObjectError(
            .invalidValue,
            "\(entry.name) of a result exceeds 64 bits. Give its NSExpressionDescription the expressionResultType "
              + "doubleAttributeType or decimalAttributeType, and compute with a number that has a fraction, such as * 1.0.",
            property: entry.name)
        }
      case .encoded(let info, let entity):
        value = try Self.decoded(rows[row, entry.column], info, entity) { try external($0, entity) }
      case .composite(let elements):
        let leaves = elements.flatMap(\.leaves)
        value = elements.dictionary { rows[row, entry.column + $0].plain(as: leaves[$0].type) }
      case .object:
        guard case .reference(let entity, let key) = rows[row, entry.column] else { continue }
        let binding = model.entities[entity]
        value = NSManagedObjectID(binding: binding, key: key, store: store(binding, key))
      }
      if let value { result[entry.name] = value }
    }
    return result
  }

  private static func decoded(
    _ stored: StoreValue, _ info: PropertyInfo, _ entity: EntityBinding,
    external: (ExternalValue) throws -> [UInt8]
  ) throws -> Any? {
    guard case .blob(var data) = stored else { return nil }
    if info.allowsExternalStorage {
      switch data.withUnsafeBytes({ ExternalValue(cell: $0) }) {
      case .inline(let bytes): data = Data(bytes)
      case .file(let name): data = Data(try external(.file(name: name)))
      case nil: break
      }
    }
    guard info.kind == .attribute(.transformable) else { return data }
    do {
      return try TransformableCoding.decode(
        data, transformer: info.transformerName, entity: entity.name, property: info.name)
    } catch {
      guard entity.objectClass == NSManagedObject.self,
        let value = UndecodedValue(data, of: info, because: error)
      else { throw error }
      return value
    }
  }
}
