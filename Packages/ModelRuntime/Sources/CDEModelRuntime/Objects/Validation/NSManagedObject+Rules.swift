@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// The rules of a property that a value breaks.
  func ruleFailures(_ info: PropertyInfo, _ value: _PropertyValue) -> [ManagedObjectError] {
    let type: StoreAttributeType
    if case .attribute(let found) = info.kind { type = found } else { type = .composite }
    switch value {
    case .null, .unset: return []
    default: break
    }
    var failures: [ManagedObjectError] = []
    for rule in info.rules {
      var cause: (any Error)?
      do {
        if try rule.holds(for: value, as: type) { continue }
      } catch {
        cause = error
      }
      failures.append(failure(of: rule, info, value, type, cause))
    }
    return failures
  }

  private func failure(
    of rule: ValidationRule, _ info: PropertyInfo, _ value: _PropertyValue, _ type: StoreAttributeType,
    _ cause: (any Error)?
  ) -> ManagedObjectError {
    var shown = value.any(as: type).map(UnfitValue.shown) ?? "nil"
    if shown.count > 80 { shown = shown.prefix(80) + "…" }
    if case .text = value { shown = "\"\(shown)\"" }
    var message = "\(_binding.name).\(info.name) is \(shown), which breaks its rule \(rule.format)"
    message += " (\(objectID.uriRepresentation().absoluteString))."
    // Written for the application's users. The error's other parts name the object, the property and the rule.
    if let warning = rule.warning { message = warning }
    if let cause { message += " The rule can't be evaluated with it: \(cause)" }
    return ManagedObjectError(
      rule.code ?? .invalidValue, message, cause: cause, entity: _binding.name, property: info.name,
      objectID: objectID, rule: rule.format, value: value.constant(as: type)?.scalar)
  }

  /// Why a changed transformable value can't be stored; nil if it can. Its encoded data is kept for the row
  /// that the save writes next.
  func encodingFailure(_ info: PropertyInfo) -> ManagedObjectError? {
    guard case .attribute(.transformable) = info.kind, !info.isTransient,
      let value = _overlay?.values[info.slot]
    else { return nil }
    do {
      try value.keepEncoding(info, of: _binding)
      return nil
    } catch {
      var failure = error
      failure.objectID = objectID
      return failure
    }
  }
}

extension _PropertyValue {
  /// Keeps the encoded bytes of a transformable value with it, or throws the reason why it can't be encoded.
  func keepEncoding(_ info: PropertyInfo, of binding: EntityBinding) throws(ManagedObjectError) {
    guard case .attribute(.transformable) = info.kind, case .object(let box) = self else { return }
    do {
      box.encoded = try box.encode(info, entity: binding.name)
    } catch {
      throw ManagedObjectError(
        .invalidValue, (error as? ModelError)?.message ?? "\(error)", cause: error, entity: binding.name,
        property: info.name)
    }
  }
}
