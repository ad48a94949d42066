public import CDEManagedModel
public import CDEModelRuntime

// Parents of models in the tests' own module: the upper two levels of hierarchies in two modules.

@PersistentModel(observation: .mainActor, isAbstract: true)
open class Medium: NSManagedObject {
  @Attribute(persistentName: "name") public var title: String = ""
  public var year: Int?
  @Attribute(.transient) public var draft: String?
  @Relationship(inverse: "media", deleteRule: .nullify) public var shelf: Shelf?
  @Relationship(inverse: "tagged", deleteRule: .nullify) public var tags: Set<Tag>
}

@PersistentModel(observation: .mainActor)
open class Clip: Medium {
  @Attribute(persistentName: "secs") public var seconds: Double = 0
}

/// Not observed, nor is the model that inherits from it here.
@PersistentModel(entityName: "Document", isAbstract: true)
open class Asset: NSManagedObject {
  @Attribute(persistentName: "label") public var name: String = ""
  @Relationship(inverse: "assets", deleteRule: .nullify) public var shelf: Shelf?
}

@PersistentModel
open class Paper: Asset {
  public var pages: Int = 0
}

@PersistentModel(observation: .mainActor)
public final class Shelf: NSManagedObject {
  public var room: String = ""
  @Relationship(inverse: "shelf", deleteRule: .nullify) public var media: Set<Medium>
  @Relationship(inverse: "shelf", deleteRule: .cascade) public var assets: [Asset]
}

@PersistentModel
public final class Tag: NSManagedObject {
  public var word: String = ""
  @Relationship(inverse: "tags", deleteRule: .nullify) public var tagged: Set<Medium>
}
