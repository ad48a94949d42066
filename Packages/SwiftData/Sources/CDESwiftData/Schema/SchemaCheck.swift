/// Connects entities that inherit, and finds what can't be stored.
struct SchemaCheck {
  private let entities: [Schema.Entity]
  private(set) var problems: [SwiftDataError] = []

  init(_ entities: [Schema.Entity]) { self.entities = entities }

  func connect() {
    let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    for entity in entities {
      guard let parent = entity.superentityName.flatMap({ byName[$0] }), parent !== entity else { continue }
      entity.superentity = parent
      parent.subentities.insert(entity)
    }
  }

  mutating func checkNames() {
    var known: Set<String> = []
    for entity in entities {
      if !known.insert(entity.name).inserted {
        note(entity, "is the name of two entities. Rename one.")
      }
      if let name = entity.superentityName, entity.superentity == nil {
        note(entity, "inherits from \(name), which the schema lacks. Add it.")
      }
      var names: Set<String> = []
      for property in entity.properties where !names.insert(property.name).inserted {
        note(
          entity, "is declared twice, inherited properties included. Rename one of the two.", property)
      }
    }
  }

  mutating func checkProperties() {
    let names = Set(entities.map(\.name))
    for entity in entities {
      for property in entity.storedProperties {
        switch property {
        case let attribute as Schema.Attribute: check(attribute, of: entity)
        case let relationship as Schema.Relationship:
          check(relationship, of: entity)
          if !names.contains(relationship.destination) {
            note(
              entity, "leads to \(relationship.destination), which the schema lacks. Add it to the entities.",
              relationship)
          }
        default:
          note(
            entity,
            "is of type \(type(of: property)). Describe it by Schema.Attribute or Schema.Relationship.",
            property)
        }
      }
    }
  }

  private mutating func check(_ attribute: Schema.Attribute, of entity: Schema.Entity) {
    if attribute.shape == nil, !attribute.isTransformable {
      note(
        entity,
        "is of type \(attribute.valueType), which is neither Codable nor a model. Conform the type to Codable, or mark the "
          + "property with @Transient or @Attribute(.transformable(by:)).", attribute)
    }
    if attribute.isTransient, attribute.isUnique {
      note(entity, "can't be unique, because it is ephemeral. Remove one of the two options.", attribute)
    }
  }

  private mutating func check(_ relationship: Schema.Relationship, of entity: Schema.Entity) {
    let (minimum, maximum) = (relationship.minimumModelCount ?? 0, relationship.maximumModelCount ?? 0)
    if minimum < 0 || maximum < 0 || maximum > 0 && minimum > maximum {
      note(
        entity, "has at least \(minimum) and at most \(maximum) models. Correct one of the counts.",
        relationship)
    } else if relationship.isToOneRelationship {
      if minimum > 1 || maximum > 1 {
        note(
          entity, "has one model, and counts for several. Make it an array, or remove the counts.",
          relationship)
      }
    } else if maximum == 1 {
      note(entity, "is an array of at most one model. Make it an optional model.", relationship)
    } else if relationship.isUnique {
      note(entity, "can't be unique, because it is a collection. Remove the option.", relationship)
    }
  }

  private mutating func note(
    _ entity: Schema.Entity, _ text: String, _ property: (any SchemaProperty)? = nil
  ) {
    let subject = [entity.name, property?.name].compactMap { $0 }.joined(separator: ".")
    problems.append(
      SwiftDataError(.invalidSchema, "\(subject) \(text)", entity: entity.name, property: property?.name))
  }
}
