import CDEDiagrams
@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import Foundation

/// Looks for what Xcode's editor warns of, and for what fails later.
public struct ModelValidation {
  /// A finding about an entity or a property.
  public struct Finding: Hashable, Sendable {
    /// Whether the model can't be used like this.
    public var isError: Bool
    public var place: String
    public var text: String
  }

  private let model: NSManagedObjectModel

  private let warnings: [ModelSource.Warning]

  /// - Parameter source: the source of the model, if it has one.
  public init(_ model: NSManagedObjectModel, source: ModelSource? = nil) {
    self.model = model
    warnings = source?.warnings ?? []
  }

  /// The answer of `cde model validate`.
  public func answer() -> Answer {
    let findings = findings()
    guard !findings.isEmpty else { return Answer([.text("The model is valid.")], json: .array([])) }
    let rows = findings.map { [Cell($0.isError ? "error" : "warning"), Cell($0.place), Cell($0.text)] }
    return Answer(
      [.table(Table([.init("kind"), .init("where"), .init("what")], rows: rows))], hasFindings: true)
  }

  /// The findings, by entity and property.
  public func findings() -> [Finding] {
    var result = warnings.map { Finding(isError: false, place: "line \($0.line)", text: $0.text) }
    for entity in model.sortedEntities {
      let name = entity.name ?? ""
      func add(_ isError: Bool, _ property: String?, _ text: String) {
        result.append(Finding(isError: isError, place: property.map { "\(name).\($0)" } ?? name, text: text))
      }
      if name.first?.isUppercase == false {
        add(false, nil, "The name begins with a small letter. Begin it with a capital one.")
      }
      if entity.isAbstract, entity.subentities.isEmpty {
        add(false, nil, "The entity is abstract and has no sub-entities, so it has no objects.")
      }
      for constraint in entity.uniquenessConstraints {
        for case let key as String in constraint where entity.propertiesByName[key] == nil {
          add(
            true, nil,
            "A uniqueness constraint names \(key), which the entity does not have. Correct the name.")
        }
      }
      for property in entity.ownStored {
        if Self.memberNames.contains(property.name) {
          add(
            false, property.name,
            "NSManagedObject has a member of this name, so code and key-value coding may reach that instead. Choose another name."
          )
        }
        if property.name.first?.isUppercase == true {
          add(false, property.name, "The name begins with a capital letter. Begin it with a small one.")
        }
        if let attribute = property as? NSAttributeDescription {
          check(attribute) { add($0, property.name, $1) }
        }
        if let relationship = property as? NSRelationshipDescription {
          check(relationship) { add($0, property.name, $1) }
        }
      }
    }
    return result.contains(where: \.isError) ? result : result + useFindings()
  }

  /// What the other checks do not know, and stops the program that uses the model.
  private func useFindings() -> [Finding] {
    do {
      _ = try ModelCompiler.data(of: model)
      // A model in use can't be changed, so the check is of a copy.
      _ = try (model.copy() as? NSManagedObjectModel)?.freeze()
      return []
    } catch let error as ModelError {
      let place = [error.entity, error.property].compactMap { $0 }.joined(separator: ".")
      return [Finding(isError: true, place: place.isEmpty ? "model" : place, text: error.message)]
    } catch {
      let text = (error as? ModelFileError)?.message ?? "\(error)"
      return [Finding(isError: true, place: "model", text: text)]
    }
  }

  /// Members of NSObject and NSManagedObject that have no arguments, so that a property may hide them.
  private static let memberNames: Set = [
    "class", "superclass", "self", "description", "debugDescription", "hash", "hashValue", "isProxy", "zone",
    "copy",
    "mutableCopy", "init", "entity", "objectID", "managedObjectContext", "isInserted", "isUpdated",
    "isDeleted", "isFault",
    "hasChanges", "hasPersistentChangedValues", "hasFaultForRelationshipNamed", "faultingState",
    "observationInfo",
    "changedValues", "changedValuesForCurrentEvent", "awakeFromFetch", "awakeFromInsert", "willSave",
    "didSave",
    "willTurnIntoFault", "didTurnIntoFault", "prepareForDeletion", "validateForInsert", "validateForUpdate",
    "validateForDelete",
  ]

  private func check(_ attribute: NSAttributeDescription, _ add: (Bool, String) -> Void) {
    if attribute.attributeType == .undefinedAttributeType, !attribute.isTransient {
      add(true, "The attribute has no type. Choose one.")
    }
    if attribute.attributeType == .transformableAttributeType, attribute.valueTransformerName?.isEmpty ?? true
    {
      add(
        false,
        "No transformer is named, so the default one decodes any class that conforms to NSSecureCoding.")
    }
  }

  private func check(_ relationship: NSRelationshipDescription, _ add: (Bool, String) -> Void) {
    guard let destination = relationship.destinationEntity else {
      return add(true, "The relationship leads to no entity. Choose its destination.")
    }
    guard let inverse = relationship.inverseRelationship else {
      return add(
        false,
        "The relationship has no inverse, so deleted objects may stay referred to. Add one to \(destination.name ?? "")."
      )
    }
    if inverse.inverseRelationship !== relationship {
      add(
        true,
        "The inverse \(destination.name ?? "").\(inverse.name) has another inverse. Make them each other's inverse."
      )
    }
    if relationship.deleteRule == .noActionDeleteRule {
      add(false, "The delete rule No Action leaves references to deleted objects. Choose another one.")
    }
    if relationship.deleteRule == .nullifyDeleteRule, !inverse.isOptional, !inverse.isToMany {
      add(
        false,
        "Deleting the object sets \(destination.name ?? "").\(inverse.name) to nil, which is required, so the save fails. Choose Cascade or Deny."
      )
    }
    if relationship.deleteRule == .cascadeDeleteRule, inverse.deleteRule == .cascadeDeleteRule,
      relationship.name < inverse.name
    {
      add(false, "Both ends cascade, so deleting one object deletes all that hang together.")
    }
    if relationship.isToMany, relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      add(true, "The least count is greater than the greatest. Correct one of them.")
    }
  }
}
