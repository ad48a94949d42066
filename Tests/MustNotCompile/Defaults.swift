import CDEManagedModel
import CDEModelRuntime
import Foundation

let standard = "standard"

// A default is part of the model: one value, which could be saved.
@PersistentModel
final class Item: NSManagedObject {
  var a: Date = Date()  // error: another value each time // error: Set the value in `awakeFromInsert()`
  @Attribute(.unique) var b: UUID = UUID()  // error: another value each time
  var c: String = standard  // error: none of the forms that can be read so (a string literal
  @Attribute(.range(1...9)) var d: Int = 0  // error: breaks the attribute's own rule `.range(1...9)`
  @Attribute(.length(1...8)) var e: String = ""  // error: breaks the attribute's own rule `.length(1...8)`
  @Attribute(.matching("[a-z]+")) var f: String = "A1"  // error: rule `.matching("[a-z]+")`
}
