internal import CDEManagedModel
internal import CDEStore
internal import Foundation

extension _PropertyValue {
  /// The value in the form that a Swift type of another cell kind reads: integers and reals turn into each
  /// other, text and URLs likewise.
  func converted(for kind: RowLayout.CellKind) -> _PropertyValue {
    switch (self, kind) {
    case (.integer(let value), .real): .real(Double(value))
    case (.real(let value), .integer): .integer(Int64(exactly: value.rounded(.towardZero)) ?? 0)
    default: self
    }
  }

  /// A value given through key-value coding, as the attribute's type holds it.
  ///
  /// - Throws: ``ManagedObjectError`` when the value is of another kind.
  init(any value: Any?, as type: StoreAttributeType) throws {
    guard let value = Self.unwrap(value), !(value is NSNull) else {
      self = .null
      return
    }
    func mismatch() -> ManagedObjectError {
      ManagedObjectError(
        .invalidValue,
        "A value of type \(Swift.type(of: value)) can't be stored in an attribute of type \(type.rawValue).")
    }
    switch type {
    case .integer16, .integer32, .integer64:
      if let number = value as? NSNumber {
        self = .integer(number.int64Value)
      } else if let integer = value as? any BinaryInteger, let exact = Int64(exactly: integer) {
        self = .integer(exact)
      } else {
        throw mismatch()
      }
    case .boolean:
      if let flag = value as? Bool {
        self = .integer(flag ? 1 : 0)
      } else if let number = value as? NSNumber {
        self = .integer(number.boolValue ? 1 : 0)
      } else {
        throw mismatch()
      }
    case .double, .float:
      if let number = value as? Double {
        self = .real(number)
      } else if let number = value as? Float {
        self = .real(Double(number))
      } else if let number = value as? NSNumber {
        self = .real(number.doubleValue)
      } else if let integer = value as? any BinaryInteger {
        self = .real(Double(integer))
      } else {
        throw mismatch()
      }
    case .date:
      guard let date = value as? Date else { throw mismatch() }
      self = .real(date.timeIntervalSinceReferenceDate)
    case .string:
      guard let text = value as? String else { throw mismatch() }
      self = .text(text)
    case .binary:
      guard let data = value as? Data else { throw mismatch() }
      self = .data(data)
    case .uuid:
      guard let uuid = value as? UUID else { throw mismatch() }
      self = .uuid(uuid)
    case .uri:
      guard let url = value as? URL else { throw mismatch() }
      self = .url(url)
    case .decimal:
      if let decimal = value as? Decimal {
        self = .decimal(decimal)
      } else if let number = value as? NSDecimalNumber {
        self = .decimal(number.decimalValue)
      } else if let number = value as? NSNumber {
        self = .decimal(number.decimalValue)
      } else {
        throw mismatch()
      }
    case .transformable, .composite, .undefined, .objectID:
      self = .object(_ObjectBox(value))
    }
  }

  /// Takes an optional out of the `Any` it hides in.
  static func unwrap(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let mirror = value as? any _OptionalValue
    guard let mirror else { return value }
    return unwrap(mirror._wrapped)
  }

  /// The value as key-value coding hands it out: numbers as `NSNumber`, nothing as nil.
  func any(as type: StoreAttributeType) -> Any? {
    switch self {
    case .unset, .null: nil
    case .integer(let value):
      type == .boolean ? NSNumber(value: value != 0) : NSNumber(value: value)
    case .real(let value):
      switch type {
      case .date: Date(timeIntervalSinceReferenceDate: value)
      case .float: NSNumber(value: Float(value))
      default: NSNumber(value: value)
      }
    case .text(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .object(let box): box.value
    case .toOne(let value): value
    case .toMany(let value): value.objects
    }
  }
}

/// Lets `Any` be asked whether it holds an optional.
private protocol _OptionalValue {
  var _wrapped: Any? { get }
}

extension Optional: _OptionalValue {
  var _wrapped: Any? { self }
}

extension RowBatchBuilder {
  /// Writes a value into the cells of an attribute or composite.
  ///
  /// Relationship cells are the save's business, which knows about pending keys.
  mutating func set(_ value: _PropertyValue, of property: PropertyInfo) {
    guard let cell = property.cells.first else { return }
    switch value {
    case .unset, .null:
      for cell in property.cells { setNull(cell) }
    case .integer(let value):
      layout.cells[cell].kind == .real ? setReal(cell, Double(value)) : setInteger(cell, value)
    case .real(let value): setReal(cell, value)
    case .text(let value): setString(cell, value)
    case .url(let value): setString(cell, value.absoluteString)
    case .decimal(let value): setString(cell, NSDecimalNumber(decimal: value).stringValue)
    case .uuid(let value): withUnsafeBytes(of: value.uuid) { setBytes(cell, $0) }
    case .data(let value): setData(cell, value, external: property.allowsExternalStorage)
    case .object(let box): setObject(box, of: property)
    case .toOne, .toMany: break
    }
  }

  /// External attributes carry a head byte that says where the bytes are.
  private mutating func setData(_ cell: Int, _ data: Data, external: Bool) {
    if external {
      (Data([1]) + data).withUnsafeBytes { setBytes(cell, $0) }
    } else {
      data.withUnsafeBytes { setBytes(cell, $0) }
    }
  }

  private mutating func setObject(_ box: _ObjectBox, of property: PropertyInfo) {
    let value = box.value
    if property.kind == .composite {
      let elements = value as? [String: Any] ?? [:]
      for (leaf, cell) in zip(property.leaves, property.cells) {
        let leafInfo = PropertyInfo(leaf: leaf, cell: cell)
        let value = (try? _PropertyValue(any: elements[leaf.name], as: leaf.type)) ?? .null
        set(value, of: leafInfo)
      }
      return
    }
    let encoded = box.encoded
    box.encoded = nil
    guard let data = encoded ?? Transformation.data(from: value, transformer: property.transformerName) else {
      setNull(property.cells.lowerBound)
      return
    }
    setData(property.cells.lowerBound, data, external: property.allowsExternalStorage)
  }
}

/// Between the object that a transformable attribute shows and the bytes that are stored.
enum Transformation {
  private static func transformer(_ name: String?) -> ValueTransformer? {
    let name =
      name.map(NSValueTransformerName.init(rawValue:)) ?? .secureUnarchiveFromDataTransformerName
    return ValueTransformer(forName: name)
  }

  // Core Data stores what the *reverse* transformation of its secure unarchivers gives, and what the forward
  // transformation of every other transformer gives.
  static func data(from value: Any, transformer name: String?) -> Data? {
    guard let transformer = transformer(name) else { return value as? Data }
    return
      (transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)) as? Data
  }

  static func value(from data: Data, transformer name: String?) -> Any? {
    guard let transformer = transformer(name) else { return data }
    return transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }
}

extension NSManagedObject {
  /// What the row says about an attribute or composite, whatever its type.
  final func storedValue(_ info: PropertyInfo) -> _PropertyValue {
    storedValue(info, _batch, Int(_row))
  }

  final func storedValue(_ info: PropertyInfo, _ batch: RowBatch, _ row: Int) -> _PropertyValue {
    RowReference(batch: batch, row: row).value(of: info) { bytes in
      _registry?.context?.externalData(bytes, for: _binding)
    }
  }
}
