import CDESwiftData
import Testing

struct Nutrition: Codable, Hashable {
  var calories: Int
  var protein: Double
  var vitamins: [String: Double] = [:]
}

struct Ingredient: Codable, Hashable, Identifiable {
  enum Unit: String, Codable { case gram, piece, millilitre }
  var id = UUID()
  var name: String
  var amount: Double
  var unit: Unit
}

struct Origin: Codable, Equatable {
  struct Place: Codable, Equatable {
    var city: String
    var country: String?
  }
  var place: Place
  var author: String?
}

@Model
final class Recipe {
  var name: String
  var steps: [String]
  var ingredients: [Ingredient]
  var nutrition: Nutrition?
  var origin: Origin
  var ratings: [Int] = []
  @Attribute(.externalStorage) var photo: Data?

  init(name: String, origin: Origin, steps: [String] = [], ingredients: [Ingredient] = []) {
    self.name = name
    self.origin = origin
    self.steps = steps
    self.ingredients = ingredients
  }
}

@Suite("Recipes with nested structs")
struct RecipesProgram {
  let folder = FileManager.default.temporaryDirectory.appending(path: "recipes-\(UUID().uuidString)")

  @Test("A recipe comes back from its file with all its parts")
  func roundTrip() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "Recipes.store")
    let ingredients = [
      Ingredient(name: "Flour", amount: 500, unit: .gram), Ingredient(name: "Eggs", amount: 3, unit: .piece),
    ]
    do {
      let container = try ModelContainer(for: Recipe.self, configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      let recipe = Recipe(
        name: "Pasta", origin: Origin(place: .init(city: "Bologna", country: "Italy"), author: nil),
        steps: ["Knead", "Rest", "Cut"], ingredients: ingredients)
      recipe.nutrition = Nutrition(calories: 370, protein: 13.5, vitamins: ["B1": 0.2])
      recipe.ratings = [5, 4]
      recipe.photo = Data(repeating: 1, count: 300_000)
      context.insert(recipe)
      try context.save()
      recipe.nutrition?.calories += 10
      recipe.ingredients[1].amount = 4
      recipe.origin.place.city = "Modena"
      recipe.ratings.append(3)
      #expect(recipe.hasChanges)
      try context.save()
    }
    let container = try ModelContainer(for: Recipe.self, configurations: ModelConfiguration(url: url))
    let recipe = try #require(try ModelContext(container).fetch(FetchDescriptor<Recipe>()).first)
    #expect(recipe.steps == ["Knead", "Rest", "Cut"])
    #expect(recipe.ingredients.map(\.amount) == [500, 4])
    #expect(recipe.ingredients.map(\.id) == ingredients.map(\.id))
    #expect(recipe.nutrition == Nutrition(calories: 380, protein: 13.5, vitamins: ["B1": 0.2]))
    #expect(recipe.origin == Origin(place: .init(city: "Modena", country: "Italy"), author: nil))
    #expect(recipe.ratings == [5, 4, 3])
    #expect(recipe.photo?.count == 300_000)
  }

  @Test("Members of structs are conditions")
  func conditions() throws {
    let container = try ModelContainer(
      for: Recipe.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    for (index, city) in ["Rome", "Paris", "Rome"].enumerated() {
      let recipe = Recipe(name: "\(index)", origin: Origin(place: .init(city: city)))
      if index != 1 { recipe.nutrition = Nutrition(calories: 100 * index, protein: 1) }
      context.insert(recipe)
    }
    try context.save()
    let roman = FetchDescriptor<Recipe>(
      predicate: #Predicate { $0.origin.place.city == "Rome" }, sortBy: [SortDescriptor(\.name)])
    #expect(try context.fetch(roman).map(\.name) == ["0", "2"])
    let rich = FetchDescriptor<Recipe>(predicate: #Predicate { ($0.nutrition?.calories ?? 0) > 50 })
    #expect(try context.fetch(rich).map(\.name) == ["2"])
    let unknown = FetchDescriptor<Recipe>(predicate: #Predicate { $0.nutrition == nil })
    #expect(try context.fetch(unknown).map(\.name) == ["1"])
  }
}
