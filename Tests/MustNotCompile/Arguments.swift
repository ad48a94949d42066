import CDEManagedModel
import CDEModelRuntime
import Foundation

let name = "stored"

@PersistentModel(entityName: name)  // error: must be a string literal that is a valid entity name
final class A: NSManagedObject {
  @Attribute(persistentName: name) var a: Int  // error: must be a string literal or nil
  @Attribute(storage: .raw) var b: Int  // error: unknown argument label `storage`
  @Attribute(storageMethod: .json) var c: Int  // error: must be written as `.default`, `.raw`, `.codable`
  @Attribute(storageMethod: .transformed) var d: [Int]?  // error: requires a transformer metatype argument
  @Attribute(storageMethod: .transformed(name: name)) var e: [Int]?  // error: requires a string literal
  @Relationship(deleteRule: .nullify) var f: B?  // error: @Relationship requires `inverse:`
  @Relationship(inverse: "f") var g: B?  // error: @Relationship requires `deleteRule:`
  @Relationship(inverse: "f", deleteRule: .noAction) var h: B?  // error: does not support `deleteRule: .noAction`
  @Relationship(inverse: name, deleteRule: .nullify) var i: B?  // error: `inverse` must be a string literal
  @Relationship(inverse: "a", deleteRule: .deny, minimumModelCount: 2, maximumModelCount: 1)  // error: must not exceed
  var j: Set<B>
  @Attribute(persistentName: "twice") var k: Int
  @Attribute(persistentName: "twice") var l: Int  // error: have the same persistent name `twice`
}

@PersistentModel(observation: .background)  // error: must be `.none` or `.mainActor`
final class B: NSManagedObject {}

@PersistentModel
final class C<Value>: NSManagedObject {}  // error: does not support generic classes
