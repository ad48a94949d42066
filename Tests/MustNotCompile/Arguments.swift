import CDEManagedModel
import CDEModelRuntime
import Foundation

let name = "stored"

// What the macros' own declarations refuse, in the compiler's words, and what only the expansion can tell.
@PersistentModel(entityName: name)  // error: must be a string literal that is a valid entity name
final class A: NSManagedObject {
  @Attribute(persistentName: name) var a: Int = 0  // error: must be a string literal or nil
  @Attribute(storage: .raw) var b: Int = 0  // error: 'AttributeTrait' has no member 'raw'
  @Attribute(storageMethod: .json) var c: Int = 0  // error: has no member 'json'
  @Attribute(storageMethod: .transformed(name: name)) var d: [Int]?  // error: requires a string literal
  @Relationship(deleteRule: .nullify) var e: B?  // error: missing argument for parameter 'inverse'
  @Relationship(inverse: "f") var f: B?  // error: missing argument for parameter 'deleteRule'
  @Relationship(inverse: "f", deleteRule: .noAction) var g: B?  // error: has no member 'noAction'
}

@PersistentModel
final class Names: NSManagedObject {
  @Relationship(inverse: name, deleteRule: .nullify) var a: B?  // error: `inverse` must be a string literal
  @Relationship(
    inverse: "a", deleteRule: .deny,
    minimumModelCount: 2,  // error: must not exceed
    maximumModelCount: 1)
  var b: Set<B>
}

@PersistentModel
final class Twice: NSManagedObject {
  @Attribute(persistentName: "twice") var a: Int = 0
  @Attribute(persistentName: "twice") var b: Int = 0  // error: have the same persistent name `twice`
}

@PersistentModel(observation: .background)  // error: has no member 'background'
final class B: NSManagedObject {}

@PersistentModel
final class C<Value>: NSManagedObject {}  // error: does not support generic classes
