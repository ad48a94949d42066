import CDEManagedModel
import CDEModelRuntime
import Foundation

final class Foreign: NSManagedObject {}
struct Place: Hashable {}

// What a relationship leads to: only the type checker knows whether that is a model. One error for each.
// expansions: 5
@PersistentModel
final class Item: NSManagedObject {
  // anywhere: Item.foreign: Foreign must be a @PersistentModel class, with the inverse items
  // anywhere: a relationship leads to a @PersistentModel class; mark the class with @PersistentModel
  @Relationship(inverse: "items", deleteRule: .nullify) var foreign: Foreign?
}

@PersistentModel
final class Many: NSManagedObject {
  @Relationship(inverse: "items", deleteRule: .nullify) var foreign: Set<Foreign>
  @Relationship(inverse: "items", deleteRule: .nullify) var ordered: [Foreign]
}

@PersistentModel
final class Values: NSManagedObject {
  // anywhere: type 'Place' has no member '__CDRelationshipNames'
  @Relationship(inverse: "items", deleteRule: .nullify) var place: Place?
  @Relationship(inverse: "items", deleteRule: .nullify) var places: Set<Place>
}

@PersistentModel
final class Numbers: NSManagedObject {
  @Relationship(inverse: "a", deleteRule: .nullify) var values: [Int]  // error: requires a relationship type
}
