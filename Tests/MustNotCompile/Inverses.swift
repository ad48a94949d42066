import CDEManagedModel
import CDEModelRuntime
import Foundation

// A warning: the model builder decides, and throws.
// anywhere: Tag has no relationship of this persistent name
@PersistentModel
final class Item: NSManagedObject {
  @Relationship(inverse: "itmes", deleteRule: .nullify) var tags: Set<Tag>
}

@PersistentModel
final class Tag: NSManagedObject {
  @Relationship(inverse: "tags", deleteRule: .nullify) var items: Set<Item>
}
