@_spi(CDE) internal import CDEManagedModel
internal import CDEStore

/// To which types the values of an attribute are converted without code, in the form that stores have.
///
/// Core Data's documentation names no changes of types. A published app with 96 versions relies on one from whole numbers of 64 bits
/// to floating-point numbers of 32. All numbers have values of one class, `NSNumber`, so all of their types count alike here.
enum AttributeConversion {
  /// Two attributes, or elements of composites, of which one can't have the values of the other.
  struct Misfit {
    /// The names of the element in the new attribute, with a point before each; empty for the attribute itself.
    var path = ""
    let old: NSAttributeDescription
    let new: NSAttributeDescription
  }

  /// What prevents that values of one attribute become values of another one; nil if they can.
  ///
  /// - Parameter alwaysFitting: whether only types count that have a place for all values. A number may be rounded there.
  static func misfit(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription, alwaysFitting: Bool = false
  ) -> Misfit? {
    if let old = old as? NSCompositeAttributeDescription, let new = new as? NSCompositeAttributeDescription {
      for case (let element, let former?) in ElementPairs(new, old).pairs {
        guard var misfit = misfit(former, element, alwaysFitting: alwaysFitting) else { continue }
        misfit.path = ".\(element.name)\(misfit.path)"
        return misfit
      }
      return nil
    }
    let types = (old.attributeType, new.attributeType)
    let isAllowed =
      types.0 == types.1 || types == (.URIAttributeType, .stringAttributeType)
      || (alwaysFitting ? fits(types.0, types.1) : isNumber(types.0) && isNumber(types.1))
    return isAllowed ? nil : Misfit(old: old, new: new)
  }

  /// Whether a type has a place for all numbers of another one. Infinity and the greatest decimals are left aside.
  private static func fits(_ old: NSAttributeType, _ new: NSAttributeType) -> Bool {
    switch old {
    case .booleanAttributeType: isNumber(new)
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      isReal(new) || width(new) > width(old)
    case .floatAttributeType: new == .doubleAttributeType || new == .decimalAttributeType
    case .doubleAttributeType: new == .decimalAttributeType
    default: false
    }
  }

  private static func isNumber(_ type: NSAttributeType) -> Bool {
    type == .booleanAttributeType || width(type) > 0 || isReal(type)
  }

  private static func isReal(_ type: NSAttributeType) -> Bool {
    [.floatAttributeType, .doubleAttributeType, .decimalAttributeType].contains(type)
  }

  private static func width(_ type: NSAttributeType) -> Int {
    switch type {
    case .integer16AttributeType: 16
    case .integer32AttributeType: 32
    case .integer64AttributeType: 64
    default: 0
    }
  }

  /// The name of an attribute's type in messages.
  static func name(_ attribute: NSAttributeDescription) -> String {
    attribute.attributeType.storeType.rawValue
  }
}
