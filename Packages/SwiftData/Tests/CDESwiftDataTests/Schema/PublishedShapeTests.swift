import CDEManagedModel
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Shapes of published stores")
struct PublishedShapeTests {
  @Test("Entities derived from classes have the hashes that Apple's SwiftData stored")
  func hashes() throws {
    let model = try Schema(Bar.Cocktail.self).managedObjectModel()
    let hashes = model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
    #expect(hashes.keys.sorted() == ["Cocktail", "Garnish", "Ingredient", "IngredientBase"])
    #expect(hashes["Cocktail"] == "eLi+RaYckUzM8DStLaIJ4Ub84I8sWQankcEJF2FhNZA=")
    #expect(hashes["Garnish"] == "dqmVnpDnntF7MqmAop5TaLlTxbfn/UBzz+Bj4xbUTMU=")
    #expect(hashes["Ingredient"] == "SjufMt9CruGesYa2rQOtV8ls0/tFMmcaQGPaIALPxho=")
    #expect(model.versionIdentifiers == ["1.0.0"])
    #expect(model.entities.allSatisfy { $0.managedObjectClassName == "NSManagedObject" })
  }

  @Test("Tables, columns in their order and indexes are those of Apple's file", .onSQLite)
  func layout() throws {
    let stack = try Stack(Schema(Bar.Cocktail.self))
    let own = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    let made = try stack.file.rows("SELECT sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL")
      .filter { $0[1].hasPrefix("Z") && !own.contains($0[1]) }.map { $0[0] }
    let expected = [
      "CREATE TABLE ZCOCKTAIL ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOLLECTION "
        + "INTEGER, ZFAVORITE INTEGER, ZISCUSTOMCOCKTAIL INTEGER, ZTITLECOCKTAIL INTEGER, ZPERSON VARCHAR, "
        + "ZPLACE VARCHAR, ZYEAR VARCHAR, ZCOCKTAILNAME VARCHAR, ZCOLLECTIONNAME VARCHAR, ZGLASSWARETYPE "
        + "VARCHAR, ZALGONQUIN VARCHAR, ZALASKA VARCHAR, ZBETWEENTHESHEETS VARCHAR, ZBLOODANDSAND VARCHAR, "
        + "ZBRAMBLE VARCHAR, ZBOBBYBURNS VARCHAR, ZCHOCOLATECOCKTAIL VARCHAR, ZELDIABLO VARCHAR, ZFOGCUTTER"
        + " VARCHAR, ZGINFIZZ VARCHAR, ZGIMLET VARCHAR, ZSILVERFIZZ VARCHAR, ZHOTTODDY VARCHAR, "
        + "ZMEXICANFIRINGSQUAD VARCHAR, ZMODERNCOCKTAIL VARCHAR, ZICE VARCHAR, ZNOTES VARCHAR, ZVARIATION "
        + "VARCHAR, ZVARIATIONNAME VARCHAR, ZID BLOB, ZID1 BLOB, ZINSTRUCTIONS BLOB, ZFLAVORS BLOB, "
        + "ZPROFILES BLOB, ZSTYLES BLOB, ZBOOZE BLOB, ZNA BLOB )",
      "CREATE TABLE ZGARNISH ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
      "CREATE TABLE ZINGREDIENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZINGREDIENTBASE INTEGER, Z1SPEC INTEGER, ZVALUE FLOAT, ZUNIT VARCHAR, ZID BLOB )",
      "CREATE TABLE ZINGREDIENTBASE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISCUSTOM"
        + " INTEGER, ZBASECATEGORY VARCHAR, ZINFO VARCHAR, ZNAME VARCHAR, ZPREPINGREDIENTNAME VARCHAR, "
        + "ZSPECIALTYCATEGORY VARCHAR, ZUMBRELLACATEGORY VARCHAR, ZID BLOB, ZID1 BLOB, ZPREPRECIPE BLOB, "
        + "ZFLAVORS BLOB, ZPROFILES BLOB, ZSTYLES BLOB, ZBOOZE BLOB, ZNA BLOB )",
      "CREATE TABLE Z_1GARNISH ( Z_1COCKTAILS INTEGER, Z_2GARNISH INTEGER, PRIMARY KEY (Z_1COCKTAILS, "
        + "Z_2GARNISH) )",
      "CREATE INDEX Z_1GARNISH_Z_2GARNISH_INDEX ON Z_1GARNISH (Z_2GARNISH, Z_1COCKTAILS)",
      "CREATE INDEX Z_Cocktail_SwiftDataIndexOnBinarycocktailName ON ZCOCKTAIL (ZCOCKTAILNAME COLLATE "
        + "BINARY ASC)",
      "CREATE INDEX Z_Cocktail_SwiftDataIndexOnBinarycollectionName ON ZCOCKTAIL (ZCOLLECTIONNAME "
        + "COLLATE BINARY ASC)",
      "CREATE INDEX Z_Cocktail_SwiftDataIndexOnBinarycocktailNamecollectionName ON ZCOCKTAIL "
        + "(ZCOCKTAILNAME COLLATE BINARY ASC, ZCOLLECTIONNAME COLLATE BINARY ASC)",
      "CREATE UNIQUE INDEX Z_Cocktail_UNIQUE_cocktailName ON ZCOCKTAIL (ZCOCKTAILNAME COLLATE BINARY "
        + "ASC)",
      "CREATE UNIQUE INDEX Z_Garnish_UNIQUE_name ON ZGARNISH (ZNAME COLLATE BINARY ASC)",
      "CREATE INDEX ZINGREDIENT_ZINGREDIENTBASE_INDEX ON ZINGREDIENT (ZINGREDIENTBASE)",
      "CREATE INDEX ZINGREDIENT_Z1SPEC_INDEX ON ZINGREDIENT (Z1SPEC)",
      "CREATE UNIQUE INDEX Z_IngredientBase_UNIQUE_name ON ZINGREDIENTBASE (ZNAME COLLATE BINARY ASC)",
    ]
    #expect(Set(made) == Set(expected))
  }

  @Test("User info says what Apple's files say of enumerations")
  func userInfo() throws {
    let cocktail = try #require(try Schema(Bar.Cocktail.self).managedObjectModel().entitiesByName["Cocktail"])
    let glass = try #require(cocktail.attributesByName["glasswareType"] as? NSCompositeAttributeDescription)
    #expect(glass.userInfo as? [String: Int] == ["EnumType": 1])
    #expect(glass.elements.map(\.name) == ["glasswareType"])
    let historic = try #require(cocktail.attributesByName["historicSpec"] as? NSCompositeAttributeDescription)
    #expect(historic.userInfo?["EnumType"] as? Int == 1)
    #expect(historic.userInfo?["enum"] as? [String] == historic.elements.map(\.name))
    #expect(historic.elements.map(\.name).prefix(3) == ["algonquin", "alaska", "betweenTheSheets"])
    #expect(cocktail.attributesByName["author"]?.userInfo == nil)
  }

  final class Bookmark: Sketch {
    var title: String { absent() }
    var keywords: [String] { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [property("title", \Bookmark.title), property("keywords", \Bookmark.keywords)]
    }
  }

  @Test("An array of texts is a transformable attribute with the array's type as its class")
  func arrays() throws {
    let entity = try #require(try Schema(Bookmark.self).managedObjectModel().entitiesByName["Bookmark"])
    let keywords = try #require(entity.attributesByName["keywords"])
    #expect(keywords.attributeType == .transformableAttributeType)
    #expect(keywords.valueTransformerName == "NSSecureUnarchiveFromData")
    #expect(keywords.attributeValueClassName == "Array<String>")
    #expect(!keywords.isOptional)
  }
}
