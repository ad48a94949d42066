internal import CDEStore
internal import Foundation

extension RowReference {
  /// What the row says about an attribute or composite, whatever its type.
  ///
  /// - Parameter external: gives the bytes that a cell only refers to.
  func value(
    of info: PropertyInfo, external: (UnsafeRawBufferPointer) -> Data?
  ) -> _PropertyValue {
    if info.kind == .composite {
      var elements: [String: Any] = [:]
      for (leaf, cell) in zip(info.leaves, info.cells) {
        let leafInfo = PropertyInfo(leaf: leaf, cell: cell)
        elements[leaf.name] = value(of: leafInfo, external: external).any(as: leaf.type)
      }
      return elements.isEmpty ? .null : .object(_ObjectBox(elements))
    }
    guard case .attribute(let type) = info.kind, let cell = info.cells.first, !batch.isNull(row, cell)
    else { return .null }
    switch type {
    case .integer16, .integer32, .integer64, .boolean: return .integer(batch.integer(row, cell)!)
    case .double, .float, .date: return .real(batch.real(row, cell)!)
    case .string, .undefined, .objectID: return .text(batch.string(row, cell)!)
    case .uri: return URL._read(batch, row, cell).map { .url($0) } ?? .null
    case .decimal: return Decimal._read(batch, row, cell).map { .decimal($0) } ?? .null
    case .uuid: return UUID._read(batch, row, cell).map { .uuid($0) } ?? .null
    case .binary: return bytes(of: info, external: external).map { .data($0) } ?? .null
    case .transformable:
      guard let data = bytes(of: info, external: external),
        let value = Transformation.value(from: data, transformer: info.transformerName)
      else { return .null }
      return .object(_ObjectBox(value))
    case .composite: return .null
    }
  }

  /// The bytes behind an attribute's cell, wherever they are kept.
  func bytes(of info: PropertyInfo, external: (UnsafeRawBufferPointer) -> Data?) -> Data? {
    guard let cell = info.cells.first, !batch.isNull(row, cell) else { return nil }
    let bytes = batch.bytes(row, cell)
    guard info.allowsExternalStorage else { return Data(bytes) }
    switch ExternalValue(cell: bytes) {
    case .inline(let value): return Data(value)
    case .file: return external(bytes)
    case nil: return Data(bytes)
    }
  }
}
