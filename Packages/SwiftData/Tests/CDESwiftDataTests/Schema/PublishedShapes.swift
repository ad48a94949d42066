import CDESwiftData
import Foundation

/// The models of a published app, from the descriptions in its store.
enum Bar {
  enum Glass: String, Codable { case coupe, rocks }
  enum Collection: Int, Codable { case classic, tiki }
  enum Historic: Codable {
    case algonquin, alaska, betweenTheSheets, bloodAndSand, bramble, bobbyBurns, chocolateCocktail, elDiablo,
      fogCutter,
      ginFizz, gimlet, silverFizz, hotToddy, mexicanFiringSquad, modernCocktail
  }
  enum Flavor: String, Codable { case almond = "Almond", orange = "Orange" }
  struct Instruction: Codable {
    var id = UUID()
    var step: Int
    var method: String
  }
  struct Build: Codable { var instructions: [Instruction] }
  struct Tags: Codable {
    var flavors: [Flavor]?
    var profiles: [Flavor]?
    var styles: [Flavor]?
    var booze: [Flavor]?
    var nA: [Flavor]?
  }
  struct Author: Codable {
    var id = UUID()
    var person: String
    var place: String?
    var year: String?
  }
  struct Prep: Codable {
    var id = UUID()
    var prepIngredientName: String
    var prepRecipe: [Instruction]
  }

  final class Cocktail: Sketch {
    var id: UUID { absent() }
    var cocktailName: String { absent() }
    var glasswareType: Glass { absent() }
    var ice: Glass? { absent() }
    var author: Author? { absent() }
    var spec: [Ingredient] { absent() }
    var garnish: [Garnish] { absent() }
    var buildOrder: Build? { absent() }
    var notes: String? { absent() }
    var variation: Glass? { absent() }
    var variationName: String? { absent() }
    var collection: Collection? { absent() }
    var collectionName: String { absent() }
    var titleCocktail: Bool? { absent() }
    var historicSpec: Historic? { absent() }
    var compiledTags: Tags { absent() }
    var favorite: Bool { absent() }
    var isCustomCocktail: Bool { absent() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("id", \Cocktail.id),
        property("cocktailName", \Cocktail.cocktailName, Schema.Attribute(.unique)),
        property("glasswareType", \Cocktail.glasswareType),
        property("ice", \Cocktail.ice),
        property("author", \Cocktail.author),
        property("spec", \Cocktail.spec, Schema.Relationship(deleteRule: .cascade)),
        property("garnish", \Cocktail.garnish),
        property("buildOrder", \Cocktail.buildOrder),
        property("notes", \Cocktail.notes),
        property("variation", \Cocktail.variation),
        property("variationName", \Cocktail.variationName),
        property("collection", \Cocktail.collection),
        property("collectionName", \Cocktail.collectionName),
        property("titleCocktail", \Cocktail.titleCocktail),
        property("historicSpec", \Cocktail.historicSpec),
        property("compiledTags", \Cocktail.compiledTags),
        property("favorite", \Cocktail.favorite),
        property("isCustomCocktail", \Cocktail.isCustomCocktail),
        property(
          "", \Cocktail.self,
          Schema.Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])),
      ]
    }
  }

  final class Garnish: Sketch {
    var name: String { absent() }
    var cocktails: [Cocktail]? { absent() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("name", \Garnish.name, Schema.Attribute(.unique)),
        property("cocktails", \Garnish.cocktails, Schema.Relationship(inverse: \Cocktail.garnish)),
      ]
    }
  }

  final class Ingredient: Sketch {
    var id: UUID { absent() }
    var ingredientBase: IngredientBase { absent() }
    var value: Double { absent() }
    var unit: Glass { absent() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("id", \Ingredient.id), property("ingredientBase", \Ingredient.ingredientBase),
        property("value", \Ingredient.value), property("unit", \Ingredient.unit),
      ]
    }
  }

  final class IngredientBase: Sketch {
    var id: UUID { absent() }
    var name: String { absent() }
    var info: String? { absent() }
    var isCustom: Bool { absent() }
    var umbrellaCategory: String { absent() }
    var specialtyCategory: String { absent() }
    var baseCategory: String { absent() }
    var tags: Tags? { absent() }
    var prep: Prep? { absent() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("id", \IngredientBase.id), property("name", \IngredientBase.name, Schema.Attribute(.unique)),
        property("info", \IngredientBase.info), property("isCustom", \IngredientBase.isCustom),
        property("umbrellaCategory", \IngredientBase.umbrellaCategory),
        property("specialtyCategory", \IngredientBase.specialtyCategory),
        property("baseCategory", \IngredientBase.baseCategory),
        property("tags", \IngredientBase.tags), property("prep", \IngredientBase.prep),
      ]
    }
  }
}
