internal import CDEStore
internal import Foundation

/// Parses the expressions of derived attributes.
///
/// Only some forms and not the whole grammar of expressions, because each form needs its own way to stay up
/// to date.
enum Derivation {
  private enum Form {
    case now
    case attribute(String)
    /// `canonical:(name)`.
    case text(function: String, attribute: String)
    case copy(relationship: String, attribute: String)
    case count(relationship: String)
    case sum(relationship: String, attribute: String)
  }

  /// The derivation of a derived attribute; `nil` when the expression is none of the supported ones.
  static func read(_ attribute: NSDerivedAttributeDescription) -> StoreDerivation? {
    if attribute.isOfOtherProgram {
      do { try validateForm(attribute, of: "") } catch { return .foreign(attribute.derivation ?? "") }
    }
    return known(attribute)
  }

  private static func known(_ attribute: NSDerivedAttributeDescription) -> StoreDerivation? {
    switch form(attribute.derivation ?? "") {
    case .now?: .now
    case .attribute(let name)?: .attribute(name)
    case .text("canonical", let name)?: .canonical(name)
    case .text("lowercase", let name)?: .lowercase(name)
    case .text(_, let name)?: .uppercase(name)
    case .copy(let relationship, let name)?: .copy(relationship: relationship, attribute: name)
    case .count(let relationship)?: .count(relationship: relationship)
    case .sum(let relationship, let name)?: .sum(relationship: relationship, attribute: name)
    case nil: nil
    }
  }

  private static func form(_ expression: String) -> Form? {
    let text = String(expression.filter { !$0.isWhitespace })
    if text == "now()" { return .now }
    if let colon = text.range(of: ":("), text.hasSuffix(")") {
      let function = String(text[..<colon.lowerBound])
      let argument = text[colon.upperBound...].dropLast()
      switch function {
      case "canonical", "lowercase", "uppercase":
        return names(argument, count: 1).map { .text(function: function, attribute: $0[0]) }
      case "count": return names(argument, count: 1).map { .count(relationship: $0[0]) }
      case "sum": return names(argument, count: 2).map { .sum(relationship: $0[0], attribute: $0[1]) }
      default: return nil
      }
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 2, parts[1] == "@count" {
      return names(parts[0], count: 1).map { .count(relationship: $0[0]) }
    }
    if parts.count == 3, let place = parts.firstIndex(of: "@sum"), place > 0 {
      let rest = (parts[..<place] + parts[(place + 1)...]).joined(separator: ".")
      return names(rest[...], count: 2).map { .sum(relationship: $0[0], attribute: $0[1]) }
    }
    if let name = names(text[...], count: 1)?.first { return .attribute(name) }
    return names(text[...], count: 2).map { .copy(relationship: $0[0], attribute: $0[1]) }
  }

  private static func names(_ path: Substring, count: Int) -> [String]? {
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return names.count == count && names.allSatisfy(ModelValidator.isPropertyName) ? names : nil
  }

  // MARK: Checking

  /// - Throws: ``ModelError`` that names the attribute and its expression.
  static func validate(_ attribute: NSDerivedAttributeDescription, of entity: String) throws {
    if !attribute.isOfOtherProgram { try validateForm(attribute, of: entity) }
  }

  private static func validateForm(_ attribute: NSDerivedAttributeDescription, of entity: String) throws {
    let expression = attribute.derivation ?? ""
    func fail(_ text: String) -> ModelError {
      ModelError(
        .invalidDerivation, "\(entity).\(attribute.name) derives from “\(expression)”\(text)", entity: entity,
        property: attribute.name)
    }
    guard let form = form(expression) else {
      throw fail(
        ", which can't be kept. Use now(), canonical:(x), lowercase:(x) or uppercase:(x) of an attribute, "
          + "x, toOne.x, toMany.@count or toMany.x.@sum.")
    }
    guard let owner = attribute.entity else {
      throw fail(", but is an element of a composite, which can't be derived.")
    }
    if attribute.isTransient || attribute.allowsExternalBinaryDataStorage {
      throw fail(", but is transient or kept in files. Make it an attribute with a column.")
    }
    let properties = owner.collectedProperties()

    /// An attribute that is not derived, of the owner or of a relationship's destination.
    func source(_ name: String, _ properties: [String: NSPropertyDescription]) throws
      -> NSAttributeDescription
    {
      guard let found = properties[name] as? NSAttributeDescription, !found.isTransient else {
        throw fail(", but “\(name)” is no stored attribute there.")
      }
      if found is NSDerivedAttributeDescription {
        throw fail(", but “\(name)” is derived itself. Derive from attributes that are set.")
      }
      return found
    }
    func destination(_ name: String, isToMany: Bool) throws -> [String: NSPropertyDescription] {
      guard let found = properties[name] as? NSRelationshipDescription, found.isToMany == isToMany,
        !found.isTransient, let destination = found.destinationEntity
      else { throw fail(", but “\(name)” is no \(isToMany ? "to-many" : "to-one") relationship of it.") }
      return destination.collectedProperties()
    }
    func require(_ types: Set<NSAttributeType>, _ name: String) throws {
      if types.contains(attribute.attributeType) { return }
      throw fail(", which is \(name). Correct the attribute's type.")
    }
    func requireSameType(_ copied: NSAttributeDescription, _ name: String) throws {
      let isFile = copied.allowsExternalBinaryDataStorage
      if copied.attributeType == attribute.attributeType, copied.attributeType != .compositeAttributeType,
        !isFile
      {
        return
      }
      throw fail(", but “\(name)” is of another type, or of one that can't be copied.")
    }
    let integers: Set<NSAttributeType> = [
      .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
    ]
    let numbers = integers.union([.doubleAttributeType, .floatAttributeType, .decimalAttributeType])

    switch form {
    case .now: try require([.dateAttributeType], "a date")
    case .attribute(let name): try requireSameType(try source(name, properties), name)
    case .text(_, let name):
      guard try source(name, properties).attributeType == .stringAttributeType else {
        throw fail(", but “\(name)” is no text.")
      }
      try require([.stringAttributeType], "a text")
    case .count(let relationship):
      _ = try destination(relationship, isToMany: true)
      try require(integers, "an integer")
    case .sum(let relationship, let name):
      let summed = try source(name, try destination(relationship, isToMany: true))
      guard numbers.contains(summed.attributeType) else { throw fail(", but “\(name)” is no number.") }
      try require(
        integers.contains(summed.attributeType) ? numbers : numbers.subtracting(integers), "a number")
    case .copy(let relationship, let name):
      try requireSameType(try source(name, try destination(relationship, isToMany: false)), name)
    }
  }
}
