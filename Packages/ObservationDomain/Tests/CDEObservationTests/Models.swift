import CDEManagedModel
import CDEModelRuntime
import Foundation

struct Unwanted: Error {}

@PersistentModel(observation: .mainActor)
final class Item: NSManagedObject {
  var title: String = ""
  var summary: String = ""
  @Attribute(persistentName: "item_rank")
  var rank: Int = 0
  @Attribute(.transient)
  var draft: String?

  @Relationship(inverse: "items", deleteRule: .nullify)
  var folder: Folder?

  @Relationship(inverse: "items", deleteRule: .nullify)
  var labels: Set<Label>

  var headline: String { "\(title) - \(summary)" }

  /// Saves of this title fail.
  static let unwanted = "unwanted"

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    if title == Self.unwanted { throw Unwanted() }
  }
}

@PersistentModel(observation: .mainActor)
final class Folder: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "folder", deleteRule: .nullify)
  var items: Set<Item>
}

@PersistentModel(observation: .mainActor)
final class Label: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "labels", deleteRule: .nullify)
  var items: Set<Item>
}

/// Did not opt in.
@PersistentModel
final class Memo: NSManagedObject {
  var text: String = ""
}
