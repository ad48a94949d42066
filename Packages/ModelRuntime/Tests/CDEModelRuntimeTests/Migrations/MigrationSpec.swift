import CDEManagedModel
import CDEModelRuntime
import Foundation

/// A plain description of a model and of objects, which random changes turn into those of the next version.
struct MigrationSpec {
  struct Attribute: Equatable {
    var name: String
    var former: String?
    /// Every value is a small whole number, which each of the types has.
    var type: NSAttributeType
    var isOptional = true
    var fallback: Int?
  }

  struct Entity: Equatable {
    var name: String
    var former: String?
    var parent: String?
    var isAbstract = false
    var attributes: [Attribute] = []
  }

  struct End: Equatable {
    var entity: String
    var name: String
    var former: String?
    var isToMany: Bool
    var isOrdered = false
  }

  /// The pairs are of objects of the first and the second end.
  struct Relation: Equatable {
    var from: End
    var to: End
    /// Whether the second end is a relationship, too.
    var hasInverse = true
    var pairs: [[Int]] = []
  }

  struct Thing: Equatable {
    var entity: String
    var values: [String: Int] = [:]
    /// The attributes that the object has had, whether with a value or not.
    var known: Set<String> = []
  }

  var entities: [Entity] = []
  var relations: [Relation] = []
  var things: [Int: Thing] = [:]
  /// What has changed in this version already, and does not change again.
  var changed: Set<String> = []
  /// Names that attributes had in any version. A renaming identifier of the last version still means such a name.
  var formerNames: Set<String> = []
  /// Names of attributes that entities have lost in this version. An old value of that name would be found again.
  var lostNames: Set<String> = []
  private var names = 0

  mutating func newName(_ kind: String) -> String {
    names += 1
    // Names of entities and of properties begin differently, and their order is not that of their making.
    return "\(kind)\(["q", "b", "x", "e"][names % 4])\(names)"
  }

  func entity(_ name: String) -> Entity { entities.first { $0.name == name }! }

  func lineage(_ name: String) -> [Entity] {
    let entity = entity(name)
    return [entity] + (entity.parent.map(lineage) ?? [])
  }

  func inherits(_ name: String, from ancestor: String) -> Bool {
    lineage(name).contains { $0.name == ancestor }
  }

  func attributes(of name: String) -> [Attribute] { lineage(name).flatMap(\.attributes) }

  // MARK: Core Data

  /// The model, with renaming identifiers for what has another name than in the version before.
  func model() -> NSManagedObjectModel {
    var made: [String: NSEntityDescription] = [:]
    for entity in entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.renamingIdentifier = entity.former
      description.isAbstract = entity.isAbstract
      var properties: [NSPropertyDescription] = entity.attributes.map { spec in
        let result = attribute(spec.name, spec.type, optional: spec.isOptional, default: spec.fallback)
        result.renamingIdentifier = spec.former
        return result
      }
      if entity.parent == nil { properties.append(attribute("id", .integer64AttributeType)) }
      description.properties = properties
      made[entity.name] = description
    }
    for entity in entities {
      if let parent = entity.parent { made[parent]!.subentities.append(made[entity.name]!) }
    }
    for relation in relations {
      func make(_ end: End, to destination: String) -> NSRelationshipDescription {
        let result = NSRelationshipDescription()
        result.name = end.name
        result.renamingIdentifier = end.former
        result.destinationEntity = made[destination]
        result.maxCount = end.isToMany ? 0 : 1
        result.isOrdered = end.isOrdered
        made[end.entity]!.properties.append(result)
        return result
      }
      let from = make(relation.from, to: relation.to.entity)
      guard relation.hasInverse else { continue }
      let to = make(relation.to, to: relation.from.entity)
      from.inverseRelationship = to
      to.inverseRelationship = from
    }
    let model = NSManagedObjectModel()
    model.entities = entities.map { made[$0.name]! }
    return model
  }

  /// Makes the objects.
  func fill(_ context: NSManagedObjectContext) throws {
    var made: [Int: NSManagedObject] = [:]
    for (id, thing) in things.sorted(by: { $0.key < $1.key }) {
      let object = context.make(thing.entity, ["id": id])
      for attribute in attributes(of: thing.entity) {
        object.setValue(thing.values[attribute.name].map { NSNumber(value: $0) }, forKey: attribute.name)
      }
      made[id] = object
    }
    for relation in relations {
      for (id, pairs) in Dictionary(grouping: relation.pairs, by: { $0[0] }) {
        let members = pairs.map { made[$0[1]]! }
        let value: Any =
          !relation.from.isToMany
          ? members[0] : relation.from.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
        made[id]!.setValue(value, forKey: relation.from.name)
      }
    }
  }

  /// What objects look like: their entities, values and related objects.
  static func read(_ spec: MigrationSpec, _ context: NSManagedObjectContext) throws -> [Int: [String:
    [String]]]
  {
    var result: [Int: [String: [String]]] = [:]
    func id(_ object: NSManagedObject) -> Int { object.value(forKey: "id") as? Int ?? -1 }
    for root in spec.entities where root.parent == nil {
      for object in try context.all(root.name) {
        let name = object.entity.name ?? ""
        var facts = ["entity": [name]]
        for attribute in spec.attributes(of: name) {
          facts[attribute.name] = (object.value(forKey: attribute.name) as? NSNumber).map {
            ["\($0.doubleValue)"]
          }
        }
        for relation in spec.relations {
          let ends = relation.hasInverse ? [relation.from, relation.to] : [relation.from]
          for end in ends where spec.inherits(name, from: end.entity) {
            let members =
              end.isToMany
              ? (end.isOrdered ? object.list(end.name) : Array(object.set(end.name)))
              : [object.one(end.name)].compactMap(\.self)
            // A new order is that of the keys, which another test checks.
            facts[end.name] = members.map(id).sorted().map { "\($0)" }
          }
        }
        result[id(object)] = facts
      }
    }
    return result
  }
}
