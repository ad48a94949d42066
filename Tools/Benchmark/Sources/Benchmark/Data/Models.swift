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
