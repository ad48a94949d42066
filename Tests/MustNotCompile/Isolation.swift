import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Item: NSManagedObject {
  var title: String = ""
}

actor Other {
  func take(_ item: Item) {}
}

@MainActor
func hand(_ item: Item, to other: Other) async {
  await other.take(item)  // error: sending 'item' risks causing data races
}
