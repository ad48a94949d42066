public import CDEStore
public import Foundation

/// A Swift type that an attribute can have without a codec.
///
/// The twelve conforming types are fixed; generated accessors are generic over them and specialised
/// where a model is declared.
public protocol CDPrimitive: Sendable {
  static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Self?
  static func _read(_ value: _PropertyValue) -> Self?
  /// The value, if reading it takes more than a look into the row. Implemented by each type, because clients
  /// can't specialise generic code here: through witness tables it takes twice as long.
  static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Self?
  var _propertyValue: _PropertyValue { get }
  /// Whether reading costs an allocation, so that a second read is worth keeping.
  static var _isKept: Bool { get }
  /// The cell kinds that `_read` understands; others go through conversion.
  static var _cellKind: RowLayout.CellKind { get }
  /// The attribute type that holds every value of the Swift type.
  static var _attributeType: StoreAttributeType { get }
  /// What a required property without a value and without a default reads.
  static var _zero: Self { get }
}

extension CDPrimitive {
  @inlinable public static var _isKept: Bool { false }
}

extension Bool: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Bool? {
    batch.integer(row, cell).map { $0 != 0 }
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Bool? {
    if case .integer(let value) = value { value != 0 } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .integer(self ? 1 : 0) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .integer }
  public static var _attributeType: StoreAttributeType { .boolean }
  public static var _zero: Bool { false }
}

/// The integer types share one implementation: cells hold 64 bits. A value that another writer made too large
/// for the declared type reads as none.
public protocol _CDIntegerPrimitive: CDPrimitive, FixedWidthInteger {}

extension _CDIntegerPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Self? {
    guard let value = batch.integer(row, cell) else { return nil }
    return Self(exactly: value) ?? _unfit(batch, row, cell, Self.self)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Self? {
    if case .integer(let value) = value { Self(exactly: value) } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .integer(Int64(truncatingIfNeeded: self)) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .integer }
  public static var _attributeType: StoreAttributeType { .integer64 }
  public static var _zero: Self { 0 }
}

extension Int: _CDIntegerPrimitive {}
extension Int16: _CDIntegerPrimitive {}
extension Int32: _CDIntegerPrimitive {}
extension Int64: _CDIntegerPrimitive {}

extension Double: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Double? {
    batch.real(row, cell)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Double? {
    if case .real(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .real(self) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .real }
  public static var _attributeType: StoreAttributeType { .double }
  public static var _zero: Double { 0 }
}

extension Float: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Float? {
    batch.real(row, cell).map { Float($0) }
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Float? {
    if case .real(let value) = value { Float(value) } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .real(Double(self)) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .real }
  public static var _attributeType: StoreAttributeType { .double }
  public static var _zero: Float { 0 }
}

extension Date: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Date? {
    batch.real(row, cell).map { Date(timeIntervalSinceReferenceDate: $0) }
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Date? {
    if case .real(let value) = value { Date(timeIntervalSinceReferenceDate: value) } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .real(timeIntervalSinceReferenceDate) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .real }
  public static var _attributeType: StoreAttributeType { .date }
  public static var _zero: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension String: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> String? {
    batch.string(row, cell)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> String? {
    if case .text(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .text(self) }
  @inlinable public static var _isKept: Bool { true }
  @inlinable public static var _cellKind: RowLayout.CellKind { .text }
  public static var _attributeType: StoreAttributeType { .string }
  public static var _zero: String { "" }
}

extension Data: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Data? {
    batch.isNull(row, cell) ? nil : Data(batch.bytes(row, cell))
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Data? {
    if case .data(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .data(self) }
  @inlinable public static var _isKept: Bool { true }
  @inlinable public static var _cellKind: RowLayout.CellKind { .blob }
  public static var _attributeType: StoreAttributeType { .binary }
  public static var _zero: Data { Data() }
}

extension UUID: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> UUID? {
    let bytes = batch.bytes(row, cell)
    if bytes.count == 16 { return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
    return _unfit(batch, row, cell, UUID.self)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> UUID? {
    if case .uuid(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .uuid(self) }
  @inlinable public static var _cellKind: RowLayout.CellKind { .blob }
  public static var _attributeType: StoreAttributeType { .uuid }
  public static var _zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> URL? {
    guard let text = batch.string(row, cell) else { return nil }
    return URL(string: text) ?? _unfit(batch, row, cell, URL.self)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> URL? {
    if case .url(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .url(self) }
  @inlinable public static var _isKept: Bool { true }
  @inlinable public static var _cellKind: RowLayout.CellKind { .text }
  public static var _attributeType: StoreAttributeType { .uri }
  public static var _zero: URL { Self._blank }
}

extension URL {
  // A constant that parses.
  fileprivate static let _blank = URL(string: "about:blank")!
}

extension Decimal: CDPrimitive {
  @inlinable public static func _read(_ batch: RowBatch, _ row: Int, _ cell: CellIndex) -> Decimal? {
    guard let text = batch.string(row, cell) else { return nil }
    // Foundation reads as much of a text as is a number, and takes "-Inf" for zero.
    if text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
      let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    {
      return value
    }
    // Core Data stores NSDecimalNumber.notANumber as this text.
    if text.lowercased() == "nan" { return .nan }
    return _unfit(batch, row, cell, Decimal.self)
  }
  @inlinable public static func _read(_ value: _PropertyValue) -> Decimal? {
    if case .decimal(let value) = value { value } else { nil }
  }
  @inlinable public var _propertyValue: _PropertyValue { .decimal(self) }
  @inlinable public static var _isKept: Bool { true }
  @inlinable public static var _cellKind: RowLayout.CellKind { .text }
  public static var _attributeType: StoreAttributeType { .decimal }
  public static var _zero: Decimal { 0 }
}

/// Tells that what a cell holds is no value of the type that is asked for, and reads as nothing; nil for a cell that
/// holds nothing.
@usableFromInline @inline(never)
func _unfit<Value: CDPrimitive>(_ batch: RowBatch, _ row: Int, _ cell: CellIndex, _ type: Value.Type)
  -> Value?
{
  if batch.isNull(row, cell) { return nil }
  let (layout, name) = (batch.layout, batch.layout.cells[cell].name)
  Diagnostics.reportOnce(about: "\(layout.entityName).\(name)") {
    "\(layout.entityName).\(name) of row \(batch.key(row)), and perhaps of others, holds what is no \(type): it reads "
      + "as nothing."
  }
  return nil
}

// MARK: Slow reads

extension Bool {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Bool? {
    object._slowValue(slot, cell)
  }
}
extension Int {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Int? {
    object._slowValue(slot, cell)
  }
}
extension Int16 {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Int16? {
    object._slowValue(slot, cell)
  }
}
extension Int32 {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Int32? {
    object._slowValue(slot, cell)
  }
}
extension Int64 {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Int64? {
    object._slowValue(slot, cell)
  }
}
extension Double {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Double? {
    object._slowValue(slot, cell)
  }
}
extension Float {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Float? {
    object._slowValue(slot, cell)
  }
}
extension Date {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Date? {
    object._slowValue(slot, cell)
  }
}
extension String {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> String? {
    object._slowValue(slot, cell)
  }
}
extension Data {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Data? {
    object._slowValue(slot, cell)
  }
}
extension UUID {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> UUID? {
    object._slowValue(slot, cell)
  }
}
extension URL {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> URL? {
    object._slowValue(slot, cell)
  }
}
extension Decimal {
  public static func _slowRead(_ object: NSManagedObject, _ slot: SlotIndex, _ cell: CellIndex) -> Decimal? {
    object._slowValue(slot, cell)
  }
}
