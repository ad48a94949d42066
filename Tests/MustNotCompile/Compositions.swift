import CDEManagedModel
import CDEModelRuntime
import Foundation

@Composition  // error: only be attached to a struct
final class A {}

@Composition
struct B<T> {}  // error: does not support generic structs

@Composition
struct C {
  let a: Int  // error: only processes `var` stored properties
  var b: Int { 1 }  // error: does not support computed properties
  var c: [Int]  // error: field type is unsupported in v1
  @CompositionField(persistentName: "a b") var d: Int  // error: valid Core Data attribute name
}
