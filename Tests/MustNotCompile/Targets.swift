import CDEManagedModel
import CDEModelRuntime
import Foundation

final class Foreign: NSManagedObject {}
struct Value {}

// What a relationship leads to: only the type checker knows whether that is a model.
@PersistentModel
final class Item: NSManagedObject {
  // anywhere: Foreign
  @Relationship(inverse: "items", deleteRule: .nullify) var foreign: Foreign?
  // anywhere: Value
  @Relationship(inverse: "items", deleteRule: .nullify) var values: Set<Value>  // error: does not conform to protocol 'Hashable'
  @Relationship(inverse: "items", deleteRule: .nullify) var numbers: [Int]  // error: requires a relationship type
}
