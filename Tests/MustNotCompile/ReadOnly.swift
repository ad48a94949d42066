import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Item: NSManagedObject {
  @Relationship(inverse: "item", deleteRule: .nullify) var tags: Set<Tag>
  @Relationship(inverse: "owner", deleteRule: .nullify) var steps: [Tag]
}

@PersistentModel
final class Tag: NSManagedObject {
  @Relationship(inverse: "tags", deleteRule: .nullify) var item: Item?
  @Relationship(inverse: "steps", deleteRule: .nullify) var owner: Item?
}

func change(_ item: Item, _ tag: Tag) {
  item.tags = [tag]  // error: are changed by addToTags(_:) and removeFromTags(_:), which keep the other side
  item.tags.insert(tag)  // error: are changed by addToTags(_:)
  item.steps = []  // error: are changed by addToSteps(_:)
}
