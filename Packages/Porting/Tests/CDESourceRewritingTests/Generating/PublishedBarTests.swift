@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import CDESwiftData
import Foundation
import Testing

@testable import coredata_sources

/// The models of a published app, whose store Apple's SwiftData made. GeneratedBar.swift has the classes for it.
@Suite("Classes for a published store")
struct PublishedBarTests {
  /// The store with rows in the form in which SwiftData stores them.
  private func makeStore() throws -> URL {
    let url = ProcessFolder.newURL("bar").appendingPathExtension("store")
    let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Cocktail.self]))
    let container = NSPersistentContainer(name: "bar", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    try container.persistentStoreCoordinator.persistentStores.forEach(
      container.persistentStoreCoordinator.remove)
    let raw = try RawSQLite(url.path)
    for statement in Self.rows.split(separator: ";\n") { try raw.run(String(statement)) }
    return url
  }

  private static let rows = """
    INSERT INTO ZINGREDIENTBASE (Z_PK, Z_ENT, Z_OPT, ZISCUSTOM, ZBASECATEGORY, ZNAME, ZUMBRELLACATEGORY, ZSPECIALTYCATEGORY, ZID, ZID1, ZPREPINGREDIENTNAME, ZPREPRECIPE, ZFLAVORS) VALUES
      (1, 4, 1, 0, 'gin', 'London Dry', 'spirit', '', X'00112233445566778899AABBCCDDEEFF', NULL, NULL, NULL, CAST('["Juniper","Citrus"]' AS BLOB)),
      (2, 4, 1, 1, 'syrup', 'Orgeat', 'other', '', X'10112233445566778899AABBCCDDEEFF', X'20112233445566778899AABBCCDDEEFF', 'Orgeat', CAST('[{"id":"30112233-4455-6677-8899-AABBCCDDEEFF","step":1,"method":"Blanch"}]' AS BLOB), CAST('["Almond","Orange"]' AS BLOB));
    INSERT INTO ZCOCKTAIL (Z_PK, Z_ENT, Z_OPT, ZCOLLECTION, ZFAVORITE, ZISCUSTOMCOCKTAIL, ZCOCKTAILNAME, ZCOLLECTIONNAME, ZGLASSWARETYPE, ZICE, ZALASKA, ZPERSON, ZID, ZID1, ZINSTRUCTIONS, ZFLAVORS, ZSTYLES) VALUES
      (1, 1, 1, 2, 1, 0, 'Alaska', 'Savoy', 'Nick & Nora', NULL, 'alaska', 'Craddock', X'40112233445566778899AABBCCDDEEFF', X'41112233445566778899AABBCCDDEEFF', CAST('[{"id":"50112233-4455-6677-8899-AABBCCDDEEFF","step":1,"method":"Stir"},{"id":"51112233-4455-6677-8899-AABBCCDDEEFF","step":2,"method":"Strain","note":"cold"}]' AS BLOB), CAST('["Herbal"]' AS BLOB), CAST('["Aromatic"]' AS BLOB)),
      (2, 1, 1, NULL, 0, 1, 'Mai Tai', 'Mine', 'rocks', 'Crushed', NULL, NULL, X'42112233445566778899AABBCCDDEEFF', NULL, NULL, CAST('["Almond","Lime"]' AS BLOB), NULL);
    INSERT INTO ZGARNISH (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'Lemon twist'), (2, 2, 1, 'Mint');
    INSERT INTO ZINGREDIENT (Z_PK, Z_ENT, Z_OPT, ZINGREDIENTBASE, Z1SPEC, ZVALUE, ZUNIT, ZID) VALUES
      (1, 3, 1, 1, 1, 1.5, 'fl oz', X'60112233445566778899AABBCCDDEEFF'), (2, 3, 1, 2, 2, 0.5, 'fl oz', X'61112233445566778899AABBCCDDEEFF');
    INSERT INTO Z_1GARNISH (Z_1COCKTAILS, Z_2GARNISH) VALUES (1, 1), (2, 1), (2, 2);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 2;
    """

  @Test("The generated classes have the hashes that Apple's SwiftData stored")
  func hashes() throws {
    let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Cocktail.self]))
    let hashes = model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
    #expect(hashes["Cocktail"] == "eLi+RaYckUzM8DStLaIJ4Ub84I8sWQankcEJF2FhNZA=")
    #expect(hashes["Garnish"] == "dqmVnpDnntF7MqmAop5TaLlTxbfn/UBzz+Bj4xbUTMU=")
    #expect(hashes["Ingredient"] == "SjufMt9CruGesYa2rQOtV8ls0/tFMmcaQGPaIALPxho=")
  }

  @Test("They are what is generated for the store, with the types that its rows tell")
  func text() throws {
    let (text, remarks) = try GenerateCommand(source: makeStore()).classes()
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "GeneratedBar.swift")
    func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }
    #expect(words(text) == words(try String(contentsOf: file, encoding: .utf8)), "\(text)")
    #expect(remarks.contains { $0.hasPrefix("Cocktail.compiledTags.profiles holds bytes") })
  }

  @Test("They read and write the rows")
  func rows() throws {
    let url = try makeStore()
    let context = ModelContext(
      try ModelContainer(for: Cocktail.self, configurations: ModelConfiguration(url: url)))
    let cocktails = try context.fetch(FetchDescriptor<Cocktail>(sortBy: [SortDescriptor(\.cocktailName)]))
    try #require(cocktails.map(\.cocktailName) == ["Alaska", "Mai Tai"])
    let alaska = cocktails[0]
    #expect(alaska.glasswareType == .nickNora && alaska.historicSpec == .alaska && alaska.ice == nil)
    #expect(alaska.compiledTags.flavors == ["Herbal"] && alaska.compiledTags.booze == nil)
    #expect(alaska.buildOrder?.instructions?.map(\.method) == ["Stir", "Strain"])
    #expect(alaska.buildOrder?.instructions?.last?.note == "cold")
    #expect(
      alaska.spec.map(\.ingredientBase.name) == ["London Dry"]
        && alaska.garnish.map(\.name) == ["Lemon twist"])
    #expect(cocktails[1].spec.first?.ingredientBase.prep?.prepRecipe?.first?.step == 1)
    alaska.compiledTags.styles = ["Aromatic", "Boozy"]
    try context.save()
    let stored = try RawSQLite(url.path).run("SELECT CAST(ZSTYLES AS TEXT) FROM ZCOCKTAIL WHERE Z_PK = 1")
    #expect(stored == [["[\"Aromatic\",\"Boozy\"]"]])
  }

  @Test(
    "Values without one type stay bytes, and names of cases differ",
    arguments: [
      (["[1]", "[\"a\"]"], "Data"), (["[1]", "[2.5]"], "[Double]"), (["{\"a b\": 1}"], "[String: Int]"),
      (["[]", "[null, true]"], "[Bool]"), (["[[1], []]"], "[[Int]]"), (["no JSON"], "Data"),
      (["{\"a b\": 1, \"c\": \"x\"}"], "Data"),
      (["{\"a\": {\"b\": 1}}", "{\"c\": 1}"], "Parts"),
    ])
  @MainActor func shapes(texts: [String], type: String) throws {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    let box = NSCompositeAttributeDescription()
    box.name = "box"
    box.elements = [attribute("parts", .binaryDataAttributeType)]
    let moods = NSCompositeAttributeDescription()
    moods.name = "mood"
    moods.elements = [attribute("mood", .stringAttributeType)]
    moods.userInfo = ["EnumType": 1]
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.properties = [box, moods]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let url = ProcessFolder.newURL("shapes").appendingPathExtension("store")
    let container = NSPersistentContainer(name: "shapes", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.viewContext
    for (text, mood) in zip(texts + ["", ""], ["fl oz", "fl-oz", "2 cl"]) {
      let thing = NSManagedObject(entity: entity, insertInto: context)
      if !text.isEmpty { thing.setValue(["parts": Data(text.utf8)], forKey: "box") }
      thing.setValue(["mood": mood], forKey: "mood")
    }
    try context.save()
    let text = try GenerateCommand(source: url).classes().text
    #expect(text.contains("    var parts: \(type)?\n"), "\(text)")
    #expect(
      text.contains("case flOz = \"fl oz\"\n    case flOz2 = \"fl-oz\"\n") || texts.count == 1, "\(text)")
    #expect(text.contains("case value2Cl = \"2 cl\"\n"), "\(text)")
  }
}
