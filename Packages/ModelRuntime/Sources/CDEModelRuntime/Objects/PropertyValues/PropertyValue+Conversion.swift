@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension _PropertyValue {
  /// The value in the form of another cell kind. Integers and reals are converted to each other, and so are
  /// texts and URLs.
  func converted(for kind: RowLayout.CellKind) -> _PropertyValue {
    switch (self, kind) {
    case (.integer(let value), .real): .real(Double(value))
    case (.real(let value), .integer):
      Int64(exactly: value.rounded(.towardZero)).map { .integer($0) } ?? .null
    default: self
    }
  }

  /// Unwraps an optional inside an `Any`.
  static func unwrap(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let mirror = value as? any _OptionalValue
    guard let mirror else { return value }
    return unwrap(mirror._wrapped)
  }

  /// The value of a scalar in the form that predicates compare; nil for nil, objects and relationships.
  ///
  /// - Parameter type: tells booleans from integers and dates from other numbers.
  func constant(as type: StoreAttributeType) -> PredicateConstant? {
    switch self {
    case .integer(let value): type == .boolean ? .bool(value != 0) : .integer(value)
    case .real(let value):
      type == .date ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value)
    case .text(let value): .string(value)
    case .data(let value): .data(value)
    case .uuid(let value): .uuid(value)
    case .decimal(let value): .decimal(value)
    case .url(let value): .url(value)
    case .unset, .null, .object, .toOne, .toMany: nil
    }
  }

  /// The value in the form of key-value coding: numbers as `NSNumber`, a missing value as nil.
  func any(as type: StoreAttributeType) -> Any? {
    switch self {
    case .real(let value) where type == .float: NSNumber(value: Float(value))
    case .object(let box): box.value
    case .toOne(let value): value
    case .toMany(let value): value.objects
    default: constant(as: type)?.keyedScalar
    }
  }
}

/// Lets code check whether an `Any` contains an optional.
private protocol _OptionalValue {
  var _wrapped: Any? { get }
}

extension Optional: _OptionalValue {
  var _wrapped: Any? { self }
}

extension RowBatchBuilder {
  /// Writes a value into the cells of an attribute or composite.
  ///
  /// The save writes relationship cells, because it has the pending keys.
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

  /// External attributes have a head byte that names the location of the bytes.
  private mutating func setData(_ cell: CellIndex, _ data: Data, external: Bool) {
    if external {
      (Data([1]) + data).withUnsafeBytes { setBytes(cell, $0) }
    } else {
      data.withUnsafeBytes { setBytes(cell, $0) }
    }
  }

  private mutating func setObject(_ box: _ObjectBox, of property: PropertyInfo) {
    let value = box.value
    if property.kind == .composite {
      let values = property.elements.leafValues(in: value as? [String: Any])
      for (index, cell) in property.cells.enumerated() {
        let leaf = property.leaves[index]
        let leafInfo = PropertyInfo(leaf: leaf, cell: cell)
        do throws(UnfitValue) {
          set(try _PropertyValue(any: values[index], as: leaf.type), of: leafInfo)
        } catch {
          // Validation refuses this value. The report is for a class whose own validation omits that check.
          Diagnostics.report(
            "\(layout.entityName).\(property.name).\(leaf.name) is stored as nil: \(error.reason)")
          setNull(cell)
        }
      }
      return
    }
    let encoded = box.encoded
    box.encoded = nil
    do {
      guard
        let data = try encoded ?? box.encode(property, entity: layout.entityName)
      else { return setNull(property.cells.lowerBound) }
      setData(property.cells.lowerBound, data, external: property.allowsExternalStorage)
    } catch {
      // The same report, also for a default value, which belongs to the model and not to an object.
      Diagnostics.report("\(layout.entityName).\(property.name) is stored as nil: \(error)")
      setNull(property.cells.lowerBound)
    }
  }
}

extension PropertyInfo {
  /// The value of a new object.
  var defaultValue: _PropertyValue {
    switch defaultConstant {
    case .null: .null
    case .integer(let value): .integer(value)
    case .bool(let value): .integer(value ? 1 : 0)
    case .double(let value): .real(value)
    case .decimal(let value): .decimal(value)
    case .string(let value): .text(value)
    case .date(let value): .real(value.timeIntervalSinceReferenceDate)
    case .data(let value): .data(value)
    case .uuid(let value): .uuid(value)
    case .url(let value): .url(value)
    case .object, .list: defaultBox.map { .object($0) } ?? .null
    }
  }
}
