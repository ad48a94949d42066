import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Item: NSManagedObject {
  var a: Tag?  // error: must declare @Relationship(persistentName: ..., inverse: ..., deleteRule: ...)
  @Relationship(inverse: "x", deleteRule: .nullify) var b: Tag  // error: must be optional
  @Relationship(inverse: "x", deleteRule: .nullify) var c: Set<Tag>?  // error: Optional to-many relationship
  @Relationship(inverse: "x", deleteRule: .nullify) var d: [Tag] = []  // error: not declare a default
  @Relationship(inverse: "x", deleteRule: .nullify) var e: String  // error: requires a relationship type
  @Relationship(inverse: "x", deleteRule: .nullify, minimumModelCount: -1) var f: [Tag]  // error: non-neg
}

@PersistentModel
final class Tag: NSManagedObject {}
