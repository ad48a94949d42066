import CoreDataEvolution

/// What every row works on. Observed, so that each figure includes what observation costs.
@PersistentModel(observation: .mainActor)
final class Item: NSManagedObject {
  var title: String = ""
  var count: Int = 0
  var score: Double = 0
  var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  var note: String?
  var uuid: UUID

  @Relationship(inverse: "items", deleteRule: .nullify)
  var category: Category?
}

@PersistentModel(observation: .mainActor)
final class Category: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "category", deleteRule: .nullify)
  var items: Set<Item>
}

enum Mood: String, CaseIterable { case calm, merry, gloomy, furious }

/// Properties of raw storage, observed.
@PersistentModel(observation: .mainActor)
final class Diary: NSManagedObject {
  @Attribute(storageMethod: .raw) var mood: Mood = .calm
}

/// And not observed.
@PersistentModel
final class PlainDiary: NSManagedObject {
  @Attribute(storageMethod: .raw) var mood: Mood = .calm
}

/// The same kind of property without observation: what an observed write is compared with.
@PersistentModel
final class PlainCounter: NSManagedObject {
  var count: Int = 0
}

/// Not observed, with accessors of the macro.
@PersistentModel
final class Link: NSManagedObject {
  var title: String = ""
  var count: Int64 = 0

  @Relationship(inverse: "previous", deleteRule: .nullify)
  var next: Link?
  @Relationship(inverse: "next", deleteRule: .nullify)
  var previous: Set<Link>
}

/// The same with accessors as the plug-in CoreDataSources writes them for `@NSManaged` properties.
final class NamedLink: NSManagedObject {
  var title: String {
    get { _cdGet(_CDName("title", 0xda31296c0c1b6029), as: (String).self) }
    set { _cdSet(_CDName("title", 0xda31296c0c1b6029), newValue) }
  }

  var count: Int64 {
    get { _cdGet(_CDName("count", 0xb1e5e28e4479a274), as: (Int64).self) }
    set { _cdSet(_CDName("count", 0xb1e5e28e4479a274), newValue) }
  }

  var next: NamedLink? {
    get { _cdGet(_CDName("next", 0xe5316cbaa025f028), as: (NamedLink?).self) }
    set { _cdSet(_CDName("next", 0xe5316cbaa025f028), newValue) }
  }

  /// The entity, which a model file would describe.
  static func description() -> NSEntityDescription {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.defaultValue = ""
    let count = NSAttributeDescription()
    count.name = "count"
    count.attributeType = .integer64AttributeType
    count.defaultValue = 0
    let entity = NSEntityDescription()
    entity.name = "NamedLink"
    entity.managedObjectClassName = "Benchmark.NamedLink"
    let (next, previous) = (NSRelationshipDescription(), NSRelationshipDescription())
    next.name = "next"
    next.maxCount = 1
    previous.name = "previous"
    previous.maxCount = 0
    for (relationship, inverse) in [(next, previous), (previous, next)] {
      relationship.destinationEntity = entity
      relationship.inverseRelationship = inverse
      relationship.deleteRule = .nullifyDeleteRule
    }
    entity.properties = [title, count, next, previous]
    return entity
  }
}

/// What contexts of different sizes are filled with.
@PersistentModel(observation: .mainActor)
final class Entry: NSManagedObject {
  /// A hundred entries have the same. Indexed, which `OurStore.model` says.
  var section: Int = 0
  var count: Int = 0
  var title: String = ""
}

extension Item {
  /// A new item of a context, with all values set as a user would.
  convenience init(_ values: ItemValues, categories: [Category], context: NSManagedObjectContext) {
    self.init(context: context)
    title = values.title
    count = values.count
    score = values.score
    createdAt = values.createdAt
    note = values.note
    uuid = values.uuid
    if let key = values.category { category = categories[Int(key) - 1] }
  }

  /// Reads every property once.
  func readAll() -> Int {
    var sum = title.utf8.count &+ count &+ Int(score) &+ Int(createdAt.timeIntervalSinceReferenceDate)
    sum &+= note?.utf8.count ?? 0
    sum &+= Int(uuid.uuid.0)
    if category != nil { sum &+= 1 }
    return sum
  }
}
