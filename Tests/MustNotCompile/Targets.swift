import CDEManagedModel
import CDEModelRuntime
import Foundation

final class Foreign: NSManagedObject {}

// What a relationship leads to: only the type checker knows whether that is a model.
@PersistentModel
final class Item: NSManagedObject {
  // anywhere: 'relationshipTargetMustBeAPersistentModel' requires that 'Foreign' conform to 'PersistentEntity'
  @Relationship(inverse: "items", deleteRule: .nullify) var foreign: Foreign?
}

@PersistentModel
final class Numbers: NSManagedObject {
  @Relationship(inverse: "a", deleteRule: .nullify) var values: [Int]  // error: requires a relationship type
}
