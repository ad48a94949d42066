import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel  // error: can only be attached to a class declaration
struct A {}

@PersistentModel
final class B {}  // error: must inherit from NSManagedObject

let wanted = true

@PersistentModel(generateInit: wanted)  // error: must be the literal
final class C: NSManagedObject {
  var a = 1, b: Int = 2  // error: multiple stored properties in one `var`
}
