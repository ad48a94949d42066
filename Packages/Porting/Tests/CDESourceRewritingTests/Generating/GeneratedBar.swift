import CDESwiftData
import Foundation

@Model
final class Cocktail {
  #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
  var author: Author?
  var buildOrder: BuildOrder?
  @Attribute(.unique) var cocktailName: String
  var collection: Collection?
  var collectionName: String
  var compiledTags: CompiledTags
  var favorite: Bool
  @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish] = []
  var glasswareType: GlasswareType
  var historicSpec: HistoricSpec?
  var ice: Ice?
  var id: UUID
  var isCustomCocktail: Bool
  var notes: String?
  // Cocktail.spec has no inverse; SwiftData takes one that can be it.
  @Relationship(deleteRule: .cascade) var spec: [Ingredient] = []
  var titleCocktail: Bool?
  var variation: Variation?
  var variationName: String?

  init(
    author: Author? = nil, buildOrder: BuildOrder? = nil, cocktailName: String, collection: Collection? = nil,
    collectionName: String, compiledTags: CompiledTags, favorite: Bool, glasswareType: GlasswareType,
    historicSpec: HistoricSpec? = nil, ice: Ice? = nil, id: UUID, isCustomCocktail: Bool,
    notes: String? = nil, titleCocktail: Bool? = nil, variation: Variation? = nil,
    variationName: String? = nil
  ) {
    self.author = author
    self.buildOrder = buildOrder
    self.cocktailName = cocktailName
    self.collection = collection
    self.collectionName = collectionName
    self.compiledTags = compiledTags
    self.favorite = favorite
    self.glasswareType = glasswareType
    self.historicSpec = historicSpec
    self.ice = ice
    self.id = id
    self.isCustomCocktail = isCustomCocktail
    self.notes = notes
    self.titleCocktail = titleCocktail
    self.variation = variation
    self.variationName = variationName
  }

  struct Author: Codable {
    var id: UUID?
    var person: String?
    var place: String?
    var year: String?
  }

  struct BuildOrder: Codable {
    var instructions: [Instruction]?

    struct Instruction: Codable {
      var id: UUID
      var method: String
      var note: String?
      var step: Int
    }
  }

  enum Collection: Int, Codable {
    // Cocktail.collection is an enumeration, of which the model has no cases. These are the values that the store has.
    case value2 = 2
  }

  struct CompiledTags: Codable {
    var flavors: [String]?
    // Cocktail.compiledTags.profiles holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var profiles: Data?
    var styles: [String]?
    // Cocktail.compiledTags.booze holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var booze: Data?
    // Cocktail.compiledTags.nA holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var nA: Data?
  }

  enum GlasswareType: String, Codable {
    // Cocktail.glasswareType is an enumeration, of which the model has no cases. These are the values that the store has.
    case nickNora = "Nick & Nora"
    case rocks
  }

  enum HistoricSpec: Codable {
    case algonquin
    case alaska
    case betweenTheSheets
    case bloodAndSand
    case bramble
    case bobbyBurns
    case chocolateCocktail
    case elDiablo
    case fogCutter
    case ginFizz
    case gimlet
    case silverFizz
    case hotToddy
    case mexicanFiringSquad
    case modernCocktail
  }

  enum Ice: String, Codable {
    // Cocktail.ice is an enumeration, of which the model has no cases. These are the values that the store has.
    case crushed = "Crushed"
  }

  enum Variation: String, Codable {
    // Cocktail.variation is an enumeration, of which the model has no cases. These are the values that the store has.
    case none = ""
  }
}

@Model
final class Garnish {
  var cocktails: [Cocktail]? = []
  @Attribute(.unique) var name: String

  init(name: String) {
    self.name = name
  }
}

@Model
final class Ingredient {
  var id: UUID
  // Ingredient.ingredientBase has no inverse; SwiftData takes one that can be it.
  var ingredientBase: IngredientBase
  var unit: Unit
  var value: Double

  init(id: UUID, ingredientBase: IngredientBase, unit: Unit, value: Double) {
    self.id = id
    self.ingredientBase = ingredientBase
    self.unit = unit
    self.value = value
  }

  enum Unit: String, Codable {
    // Ingredient.unit is an enumeration, of which the model has no cases. These are the values that the store has.
    case flOz = "fl oz"
  }
}

@Model
final class IngredientBase {
  var baseCategory: String
  var id: UUID
  var info: String?
  var isCustom: Bool
  @Attribute(.unique) var name: String
  var prep: Prep?
  var specialtyCategory: String
  var tags: Tags?
  var umbrellaCategory: String

  init(
    baseCategory: String, id: UUID, info: String? = nil, isCustom: Bool, name: String, prep: Prep? = nil,
    specialtyCategory: String, tags: Tags? = nil, umbrellaCategory: String
  ) {
    self.baseCategory = baseCategory
    self.id = id
    self.info = info
    self.isCustom = isCustom
    self.name = name
    self.prep = prep
    self.specialtyCategory = specialtyCategory
    self.tags = tags
    self.umbrellaCategory = umbrellaCategory
  }

  struct Prep: Codable {
    var id: UUID?
    var prepIngredientName: String?
    var prepRecipe: [PrepRecipeItem]?

    struct PrepRecipeItem: Codable {
      var id: UUID
      var method: String
      var step: Int
    }
  }

  struct Tags: Codable {
    var flavors: [String]?
    // IngredientBase.tags.profiles holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var profiles: Data?
    // IngredientBase.tags.styles holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var styles: Data?
    // IngredientBase.tags.booze holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var booze: Data?
    // IngredientBase.tags.nA holds bytes, which are JSON if it is a collection, and the store has no value that tells: declare its type.
    var nA: Data?
  }
}
