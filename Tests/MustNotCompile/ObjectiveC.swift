import CDEManagedModel
import CDEModelRuntime
import Foundation

// The compiler's own error says only that there is no Objective-C; the warning says what to write.
@PersistentModel
@objc(StoredItem)  // error: Objective-C interoperability is disabled // warning: `@PersistentModel(entityName: "StoredItem")`
final class Item: NSManagedObject {
  var title: String = ""
}
