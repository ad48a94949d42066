@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// Attributes of snapshots as cells of rows, and back.
struct RowCoding {
  let entity: NSEntityDescription
  let layout: RowLayout
  let shape: SnapshotShape
  /// Returns the bytes that a cell refers to.
  let external: (ExternalValue) throws -> [UInt8]

  // MARK: Reading

  /// The value of an attribute in the form that snapshots have it.
  func value(_ property: RowLayout.Property, _ bytes: ValueShape?, _ row: RowReference) throws -> Any? {
    switch property.kind {
    case .attribute(let attribute):
      return try cell(attribute, property, property.cells.lowerBound, row, isRaw: bytes == nil)
    case .composite(let attribute):
      var next = property.cells.lowerBound
      return try dictionary(attribute.elements, property, &next, row)
    case .toOne, .toMany: return nil
    }
  }

  private func dictionary(
    _ elements: [StoreAttribute], _ property: RowLayout.Property, _ next: inout CellIndex, _ row: RowReference
  ) throws -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in elements {
      if element.type == .composite {
        result[element.name] = try dictionary(element.elements, property, &next, row)
      } else {
        result[element.name] = try cell(element, property, next, row, isRaw: false)
        next = next + 1
      }
    }
    return result.isEmpty ? nil : result
  }

  private func cell(
    _ attribute: StoreAttribute, _ property: RowLayout.Property, _ cell: CellIndex, _ row: RowReference,
    isRaw: Bool
  ) throws -> Any? {
    let (batch, index) = (row.batch, row.row)
    guard !batch.isNull(index, cell) else { return nil }
    switch attribute.type {
    case .boolean: return batch.integer(index, cell).map { NSNumber(value: $0 != 0) }
    case .integer16, .integer32, .integer64: return batch.integer(index, cell).map { NSNumber(value: $0) }
    case .float: return batch.real(index, cell).map { NSNumber(value: Float($0)) }
    case .double: return batch.real(index, cell).map { NSNumber(value: $0) }
    case .date: return batch.real(index, cell).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .string, .undefined, .objectID: return batch.string(index, cell)
    case .uri: return batch.string(index, cell).flatMap { URL(string: $0) }
    case .decimal: return batch.string(index, cell).map { NSDecimalNumber(string: $0) }
    case .uuid:
      let bytes = batch.bytes(index, cell)
      return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    case .binary: return try data(attribute, batch.bytes(index, cell))
    case .transformable:
      let data = try data(attribute, batch.bytes(index, cell))
      if isRaw { return data }
      return try TransformableCoding.decode(
        data, transformer: transformer(property), entity: layout.entityName, property: property.name)
    case .composite: return nil
    }
  }

  private func data(_ attribute: StoreAttribute, _ bytes: UnsafeRawBufferPointer) throws -> Data {
    guard attribute.allowsExternalStorage, let cell = ExternalValue(cell: bytes) else { return Data(bytes) }
    if case .inline(let value) = cell { return Data(value) }
    return Data(try external(cell))
  }

  private func transformer(_ property: RowLayout.Property) -> String? {
    entity.attributesByName[property.name]?.valueTransformerName
  }

  // MARK: Writing

  /// Sets the cells of an attribute in the last row of a builder.
  ///
  /// - Throws: `SwiftDataError` with code `.valueCoding` for a value of another type.
  func set(
    _ value: Any?, _ property: RowLayout.Property, _ bytes: ValueShape?, _ builder: inout RowBatchBuilder
  ) throws {
    switch property.kind {
    case .attribute(let attribute):
      try set(value, attribute, property, property.cells.lowerBound, &builder, isRaw: bytes == nil)
    case .composite(let attribute):
      var next = property.cells.lowerBound
      try set(value as? [String: Any], attribute.elements, property, &next, &builder)
    case .toOne, .toMany: break
    }
  }

  private func set(
    _ values: [String: Any]?, _ elements: [StoreAttribute], _ property: RowLayout.Property,
    _ next: inout CellIndex, _ builder: inout RowBatchBuilder
  ) throws {
    for element in elements {
      if element.type == .composite {
        try set(values?[element.name] as? [String: Any], element.elements, property, &next, &builder)
      } else {
        try set(values?[element.name], element, property, next, &builder, isRaw: false)
        next = next + 1
      }
    }
  }

  private func set(
    _ value: Any?, _ attribute: StoreAttribute, _ property: RowLayout.Property, _ cell: CellIndex,
    _ builder: inout RowBatchBuilder, isRaw: Bool
  ) throws {
    guard let value else { return builder.setNull(cell) }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean:
      builder.setInteger(cell, try cast(value, NSNumber.self, property).int64Value)
    case .float: builder.setReal(cell, Double(try cast(value, NSNumber.self, property).floatValue))
    case .double: builder.setReal(cell, try cast(value, NSNumber.self, property).doubleValue)
    case .date:
      builder.setReal(cell, try cast(value, Date.self, property).timeIntervalSinceReferenceDate)
    case .string, .undefined, .objectID: builder.setString(cell, try cast(value, String.self, property))
    case .uri: builder.setString(cell, try cast(value, URL.self, property).absoluteString)
    case .decimal: builder.setString(cell, try cast(value, NSNumber.self, property).decimalText)
    case .uuid:
      withUnsafeBytes(of: try cast(value, UUID.self, property).uuid) { builder.setBytes(cell, $0) }
    case .binary: set(try cast(value, Data.self, property), attribute, cell, &builder)
    case .transformable:
      let data =
        isRaw
        ? value as? Data
        : try TransformableCoding.encode(
          value, transformer: transformer(property), entity: layout.entityName, property: property.name)
      guard let data else { return builder.setNull(cell) }
      set(data, attribute, cell, &builder)
    case .composite: break
    }
  }

  private func set(
    _ data: Data, _ attribute: StoreAttribute, _ cell: CellIndex, _ builder: inout RowBatchBuilder
  ) {
    // A head byte says where the bytes are.
    let stored = attribute.allowsExternalStorage ? Data([1]) + data : data
    stored.withUnsafeBytes { builder.setBytes(cell, $0) }
  }

  private func cast<Value>(_ value: Any, _ type: Value.Type, _ property: RowLayout.Property) throws -> Value {
    if let value = value as? Value { return value }
    throw SwiftDataError(
      .valueCoding,
      "A snapshot of \(layout.entityName) has a value of type \(Swift.type(of: value)) for \(property.name), which is stored as "
        + "\(type).", entity: layout.entityName, property: property.name)
  }
}

extension NSNumber {
  fileprivate var decimalText: String {
    (self as? NSDecimalNumber ?? NSDecimalNumber(decimal: decimalValue)).stringValue
  }
}
