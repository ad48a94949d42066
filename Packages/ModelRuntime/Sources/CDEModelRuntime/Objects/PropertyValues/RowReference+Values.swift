@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

extension RowReference {
  /// The row's value of an attribute or composite of any type.
  ///
  /// - Parameter external: returns the bytes that a cell only refers to.
  /// - Throws: the errors of `external`, and ``ModelError`` for an archive that can't be read.
  func value(
    of info: PropertyInfo, external: (ExternalValue) throws -> Data
  ) throws -> _PropertyValue {
    if info.kind == .composite {
      let elements = try info.elements.dictionary { index in
        let leaf = info.leaves[index]
        let leafInfo = PropertyInfo(leaf: leaf, cell: info.cells.lowerBound + index)
        return try value(of: leafInfo, external: external).any(as: leaf.type)
      }
      return elements.map { .object(_ObjectBox($0)) } ?? .null
    }
    guard case .attribute(let type) = info.kind, let cell = info.cells.first, !batch.isNull(row, cell)
    else { return .null }
    switch type {
    case .integer16, .integer32, .integer64, .boolean: return .integer(batch.integer(row, cell)!)
    case .double, .float, .date: return .real(batch.real(row, cell)!)
    case .string, .undefined, .objectID: return .text(batch.string(row, cell)!)
    // A stored value of another form is reported by the read and gives no value.
    case .uri: return URL._read(batch, row, cell).map { .url($0) } ?? .null
    case .decimal: return Decimal._read(batch, row, cell).map { .decimal($0) } ?? .null
    case .uuid: return UUID._read(batch, row, cell).map { .uuid($0) } ?? .null
    case .binary: return try bytes(of: info, external: external).map { .data($0) } ?? .null
    case .transformable:
      let value = try TransformableCoding.decode(
        try bytes(of: info, external: external), transformer: info.transformerName,
        entity: batch.layout.entityName, property: info.name)
      return value.map { .object(_ObjectBox($0)) } ?? .null
    case .composite: return .null
    }
  }

  /// The bytes of an attribute's cell, in the row or in a file.
  func bytes(of info: PropertyInfo, external: (ExternalValue) throws -> Data) throws -> Data? {
    guard let cell = info.cells.first, !batch.isNull(row, cell) else { return nil }
    let bytes = batch.bytes(row, cell)
    guard info.allowsExternalStorage else { return Data(bytes) }
    switch ExternalValue(cell: bytes) {
    case .inline(let value): return Data(value)
    case .file(let name): return try external(.file(name: name))
    case nil: return Data(bytes)
    }
  }
}
