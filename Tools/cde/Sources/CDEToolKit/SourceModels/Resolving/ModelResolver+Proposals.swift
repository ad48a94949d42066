import CDEDiagrams
import CDEManagedModel

extension ModelResolver {
  /// The enumerations of accepted proposals.
  mutating func addEnumerations() {
    for (index, proposal) in proposals.enumerations.enumerated() where proposal.accepted {
      let place = "proposals.enumerations[\(index)]"
      guard
        let attribute = model.entitiesByName[proposal.entity]?.ownProperties(sorted: false)
          .first(where: { $0.name == proposal.attribute }) as? NSAttributeDescription,
        AttributeTypes.rawTypes.contains(attribute.attributeType)
      else {
        problem(
          place,
          "The model has no attribute \(proposal.entity).\(proposal.attribute) of text or whole numbers. Correct the proposal."
        )
        continue
      }
      let isText = attribute.attributeType == .stringAttributeType
      var cases: [ResolvedEnumeration.Case] = []
      for value in proposal.values {
        guard let found = Self.enumerationCase(value, isText, taken: Set(cases.map(\.name))) else {
          problem(
            place,
            "The values of \(proposal.attribute) must be \(isText ? "texts" : "whole numbers"). Correct them."
          )
          break
        }
        cases.append(found)
      }
      let rawType = isText ? "String" : AttributeTypes.swiftTypes[attribute.typeName]?.first ?? "Int"
      let enumeration = ResolvedEnumeration(
        name: proposal.swiftType, rawType: rawType, cases: cases, owner: proposal.entity)
      if let known = result.enumerations.first(where: { $0.name == proposal.swiftType }) {
        guard known.cases == cases, known.rawType == rawType else {
          problem(
            place, "Two enumerations are named \(proposal.swiftType). Give one of them another “swiftType”.")
          continue
        }
      } else {
        result.enumerations.append(enumeration)
      }
    }
  }

  private static func enumerationCase(
    _ value: JSONValue, _ isText: Bool, taken: Set<String>
  ) -> ResolvedEnumeration.Case? {
    let name: String
    let literal: String
    switch value {
    case .string(let text) where isText:
      name = SwiftNaming.caseName(text)
      literal = DefaultLiteral.string(text)
    case .number(let text) where !isText:
      name = "value" + text.replacing("-", with: "Minus")
      literal = text
    default: return nil
    }
    let free = taken.contains(name) ? (2...).lazy.map { "\(name)\($0)" }.first { !taken.contains($0) }! : name
    return .init(name: free, literal: literal)
  }

  /// The structures of accepted proposals, over attributes that stay as they are.
  mutating func addGroups(to index: Int) {
    let entity = result.entities[index]
    for (number, proposal) in proposals.compositions.enumerated()
    where proposal.accepted && proposal.entity == entity.name {
      var fields: [ResolvedGroup.Field] = []
      for field in proposal.fields {
        guard let attribute = entity.attributes.first(where: { $0.persistentName == field.attribute }) else {
          problem(
            "proposals.compositions[\(number)].fields.\(field.name)",
            "\(entity.name) has no attribute \(field.attribute). Correct the proposal.")
          continue
        }
        fields.append(
          .init(name: field.name, property: attribute.swiftName, declaredType: attribute.declaredType))
      }
      result.entities[index].groups.append(
        .init(swiftName: proposal.swiftName, swiftType: proposal.swiftType, fields: fields))
    }
    for (number, proposal) in proposals.compositions.enumerated()
    where index == 0 && proposal.accepted && model.entitiesByName[proposal.entity] == nil {
      problem(
        "proposals.compositions[\(number)].entity",
        "The model has no entity \(proposal.entity). Correct the proposal.")
    }
  }
}
