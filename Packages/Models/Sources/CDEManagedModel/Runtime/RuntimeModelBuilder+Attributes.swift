internal import Foundation

/// How a model built at run time stores the attributes of composition storage.
public enum CDRuntimeCompositionLayout: Sendable, Hashable {
  /// As one archived dictionary. Predicates and sort descriptors can't use its fields.
  case dictionary
  /// As a composite attribute with a column for each field. Predicates and sort descriptors can use the
  /// fields. Core Data has composite attributes since macOS 14 and iOS 17.
  case columns
}

extension RuntimeModelBuilder {
  static func makeComposite(
    _ schema: CDRuntimeAttributeSchema, _ fields: [CDRuntimeCompositionFieldSchema], of entity: String
  ) throws -> NSAttributeDescription {
    let composite = NSCompositeAttributeDescription()
    composite.name = schema.persistentName
    composite.isOptional = schema.isOptional
    composite.isTransient = schema.isTransient
    composite.elements = fields.map { field in
      let element = NSAttributeDescription()
      element.name = field.persistentName
      element.attributeType = field.primitiveType.attributeType
      // A composition without a value has no values of its fields, whatever the fields' types are.
      element.isOptional = true
      return element
    }
    return composite
  }

  /// Makes predicates of the rules of a schema, in the wording of Core Data's model compiler.
  static func addValidations(
    _ sources: [Source], to model: NSManagedObjectModel,
    _ predicate: (String, [any Sendable]) -> NSPredicate
  ) {
    for source in sources {
      let properties = model.entitiesByName[source.schema.entityName]?.propertiesByName ?? [:]
      for attribute in source.schema.attributes where !attribute.validations.isEmpty {
        properties[attribute.persistentName]?.setValidations(
          attribute.validations.flatMap { rule in
            predicates(of: rule).map { (predicate($0.format, $0.arguments), NSNumber(value: $0.code)) }
          })
      }
    }
  }

  private struct Clause {
    let format: String
    var arguments: [any Sendable] = []
    /// Core Data's error code of a failure.
    let code: Int
  }

  private static func predicates(of rule: CDRuntimeValidationRule) -> [Clause] {
    switch rule {
    case .range(let minimum, let maximum):
      let low = minimum.map { Clause(format: "SELF >= \($0)", code: 1620) }
      let high = maximum.map { Clause(format: "SELF <= \($0)", code: 1610) }
      return [low, high].compactMap { $0 }
    case .length(let minimum, let maximum):
      let low = minimum.map { Clause(format: "length >= \($0)", code: 1670) }
      let high = maximum.map { Clause(format: "length <= \($0)", code: 1660) }
      return [low, high].compactMap { $0 }
    case .matching(let pattern):
      return [Clause(format: "SELF MATCHES %@", arguments: [pattern], code: 1680)]
    }
  }
}
