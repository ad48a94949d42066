import CDEManagedModel
import CDEModelRuntime
import Foundation

// The compiler's own error says only that there is no Objective-C; the warning says what to write.
// anywhere: a different entity name is set by `@PersistentModel(entityName: "StoredItem")`
@PersistentModel
@objc(StoredItem)  // error: Objective-C interoperability is disabled
final class Item: NSManagedObject {
  var title: String = ""
}
