import CDESwiftData
import Foundation
import Testing

// A cookbook that is exchanged as JSON: models that are Codable themselves, one-to-one relationships, versions of the same model class.

@Model
final class CookRecipe: Codable {
  var title: String
  var servings: Int
  var ingredients: [Ingredient]
  var steps: [String]
  var nutrition: Nutrition?
  var rating: Double?
  @Relationship(deleteRule: .cascade, inverse: \RecipePhoto.recipe) var photo: RecipePhoto?
  @Transient var scale = 1.0

  struct Ingredient: Codable, Hashable {
    var name: String
    var amount: Measure
  }
  struct Measure: Codable, Hashable {
    var value: Double
    var unit: Unit
    enum Unit: String, Codable { case gram, litre, piece }
  }
  struct Nutrition: Codable, Equatable {
    var calories: Int
    var perPortion: [String: Double]
  }

  init(title: String, servings: Int = 4, ingredients: [Ingredient] = [], steps: [String] = []) {
    self.title = title
    self.servings = servings
    self.ingredients = ingredients
    self.steps = steps
  }

  enum CodingKeys: String, CodingKey { case title, servings, ingredients, steps }

  convenience init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      title: try values.decode(String.self, forKey: .title),
      servings: try values.decode(Int.self, forKey: .servings),
      ingredients: try values.decode([Ingredient].self, forKey: .ingredients),
      steps: try values.decode([String].self, forKey: .steps))
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(title, forKey: .title)
    try values.encode(servings, forKey: .servings)
    try values.encode(ingredients, forKey: .ingredients)
    try values.encode(steps, forKey: .steps)
  }
}

@Model
final class RecipePhoto {
  @Attribute(.externalStorage) var data: Data
  var recipe: CookRecipe?
  init(_ data: Data) { self.data = data }
}

/// Equality and hashes of its own.
@Model
final class Pantry {
  var shelf: String
  var amounts: [String: Int] = [:]

  init(shelf: String) { self.shelf = shelf }

  static func == (one: Pantry, other: Pantry) -> Bool { one.shelf == other.shelf }
  func hash(into hasher: inout Hasher) { hasher.combine(shelf) }
}

protocol Named { var title: String { get set } }
extension CookRecipe: Named {}

@Suite("Programs: recipes")
struct RecipePrograms {
  private let text = Data(
    """
    {"title":"Bread","servings":2,"steps":["mix","bake"],"ingredients":[
     {"name":"flour","amount":{"value":500,"unit":"gram"}},{"name":"water","amount":{"value":0.3,"unit":"litre"}}]}
    """.utf8)

  @Test("A model is decoded from JSON, stored, and encoded again")
  func json() throws {
    let context = ModelContext(try .inMemory(CookRecipe.self))
    let bread = try JSONDecoder().decode(CookRecipe.self, from: text)
    bread.nutrition = .init(calories: 250, perPortion: ["fat": 1.5])
    context.insert(bread)
    try context.save()
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<CookRecipe>()).first)
    #expect(stored.ingredients == bread.ingredients && stored.steps == ["mix", "bake"])
    #expect(stored.ingredients[1].amount.unit == .litre)
    #expect(stored.nutrition == .init(calories: 250, perPortion: ["fat": 1.5]) && stored.rating == nil)
    let again = try JSONDecoder().decode(CookRecipe.self, from: try JSONEncoder().encode(stored))
    #expect(again.ingredients == stored.ingredients && again.servings == 2)
  }

  @Test("One-to-one: a photo has one recipe, and goes with it")
  func oneToOne() throws {
    let context = ModelContext(try .inMemory(CookRecipe.self))
    let (bread, cake) = (CookRecipe(title: "Bread"), CookRecipe(title: "Cake"))
    let photo = RecipePhoto(Data(repeating: 7, count: 300_000))
    bread.photo = photo
    #expect(photo.recipe === bread)
    context.insert(bread)
    context.insert(cake)
    try context.save()
    cake.photo = photo
    #expect(bread.photo == nil && photo.recipe === cake)
    try context.save()
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<RecipePhoto>()).first)
    #expect(stored.data.count == 300_000 && stored.recipe?.title == "Cake")
    other.delete(try #require(stored.recipe))
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<RecipePhoto>()) == 0)
  }

  @Test("A transient value stays in memory, and a fetched instance has its default")
  func transient() throws {
    let context = ModelContext(try .inMemory(CookRecipe.self))
    let bread = CookRecipe(title: "Bread")
    bread.scale = 3
    context.insert(bread)
    try context.save()
    #expect(bread.scale == 3)
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<CookRecipe>()).first?.scale == 1)
  }

  @Test("A class with equality of its own works in sets and relationships of values")
  func ownEquality() throws {
    let context = ModelContext(try .inMemory(Pantry.self))
    let (one, two) = (Pantry(shelf: "A"), Pantry(shelf: "A"))
    #expect(one == two && Set([one, two]).count == 1)
    one.amounts["rice"] = 2
    context.insert(one)
    try context.save()
    one.amounts["rice", default: 0] += 1
    try context.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Pantry>()).first?.amounts == ["rice": 3])
  }

  @Test("A protocol with a settable property is a view of the model")
  func protocols() {
    func shout(_ value: inout some Named) { value.title = value.title.uppercased() }
    var bread = CookRecipe(title: "Bread")
    shout(&bread)
    #expect(bread.title == "BREAD")
  }

  @Test("A required value that is missing is an error of the save with the property's name")
  func validation() throws {
    let context = ModelContext(try .inMemory(Limited.self))
    let limited = Limited()
    context.insert(limited)
    limited.parts = [LimitedPart(), LimitedPart(), LimitedPart()]
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == SwiftDataError.modelValidationFailure.code && error?.property == "parts")
    limited.parts.removeLast()
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<LimitedPart>()) == 3)
  }
}

@Model
final class Limited {
  @Relationship(deleteRule: .deny, maximumModelCount: 2) var parts: [LimitedPart] = []
  init() {}
}

@Model
final class LimitedPart {
  init() {}
}
