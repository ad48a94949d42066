@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// A number that a mapping model takes from an attribute of one type to one of another.
struct MigratedNumber {
  private let number: NSNumber

  init(_ number: NSNumber) { self.number = number }

  /// The nearest number that a type has, and without a fraction for whole ones. A number beyond the type's range stays as it is: setting
  /// it is an error.
  func nearest(of type: NSAttributeType) -> NSNumber {
    switch type {
    case .floatAttributeType:
      if ExactNumber.float(number) != nil { return number }
      let float = ExactNumber.integer(number).map { Float($0) } ?? Float(number.doubleValue)
      return float.isFinite ? NSNumber(value: float) : number
    case .doubleAttributeType:
      return ExactNumber.double(number) == nil ? NSNumber(value: number.doubleValue) : number
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      if ExactNumber.integer(number) != nil { return number }
      let whole = (ExactNumber.double(number) ?? .nan).rounded(.towardZero)
      return Int64(exactly: whole).map { NSNumber(value: $0) } ?? number
    default: return number
    }
  }
}
