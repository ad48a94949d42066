@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Proposals from data")
struct ProposalTests {
  private static let entities = """
    <entity name="Shop">
      <attribute name="addressCity" optional="YES" attributeType="String"/>
      <attribute name="addressStreet" optional="YES" attributeType="String"/>
      <attribute name="code" optional="YES" attributeType="String"/>
      <attribute name="isClosed" optional="YES" attributeType="Boolean"/>
      <attribute name="isOpen" optional="YES" attributeType="Boolean"/>
      <attribute name="level" optional="YES" attributeType="Integer 16"/>
      <attribute name="mood" attributeType="String" defaultValueString="so so"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="phone_home" optional="YES" attributeType="String"/>
      <attribute name="phone_work" optional="YES" attributeType="String"/>
      <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
    </entity>
    """

  private func store(_ model: LoadedModel, rows: Int) throws -> OpenedStore {
    let url = ProcessFolder.newURL("shops").appendingPathExtension("sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for row in 0..<rows {
        let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        shop.setValue("shop \(row)", forKey: "name")
        shop.setValue("c\(row)", forKey: "code")
        shop.setValue(["happy", "so so", "3 stars"][row % 3], forKey: "mood")
        shop.setValue([-1, 1, 2][row % 3], forKey: "level")
        if row % 2 == 0 {
          shop.setValue("Oslo \(row)", forKey: "addressCity")
          shop.setValue("Street \(row)", forKey: "addressStreet")
        }
        // Never together.
        shop.setValue("\(row)", forKey: row % 2 == 0 ? "phone_home" : "phone_work")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return try OpenedStore(.file(url))
  }

  private func bootstrap(rows: Int) throws -> (model: LoadedModel, text: String) {
    let model = try sourceModel(Self.entities)
    let text = try ConfigurationText.bootstrap(
      model, path: "Small", version: nil, style: .compact, data: store(model, rows: rows))
    return (model, text)
  }

  @Test(
    "Few values that come again are an enumeration, alike names a structure; neither has an effect by itself")
  func proposals() throws {
    let (model, text) = try bootstrap(rows: 12)
    let found = try configuration(text)
    #expect(found.proposals.enumerations.map(\.attribute) == ["level", "mood"])
    #expect(found.proposals.enumerations.map(\.swiftType) == ["Level", "Mood"])
    #expect(found.proposals.enumerations[0].values == [.int(-1), .int(1), .int(2)])
    #expect(
      found.proposals.enumerations[1].values == [.string("3 stars"), .string("happy"), .string("so so")])
    #expect(
      found.proposals.compositions == [
        .init(
          entity: "Shop", swiftName: "address", swiftType: "Address",
          fields: [
            .init(name: "city", attribute: "addressCity"), .init(name: "street", attribute: "addressStreet"),
          ])
      ])
    let plain = try SourceGeneration(model, SourceConfiguration()).sources().text
    #expect(try SourceGeneration(model, found).sources().text == plain)
  }

  @Test("Accepted proposals are enumerations and structures, and keep the version")
  func accepted() throws {
    let (model, text) = try bootstrap(rows: 12)
    let found = try configuration(text.replacing("\"accepted\": false", with: "\"accepted\": true"))
    let sources = try SourceGeneration(model, found).sources()
    #expect(sources.keepsVersion == true && sources.remarks.isEmpty)
    #expect(sources.text.contains("  @Attribute(storageMethod: .raw) var mood: Mood = .soSo\n"))
    #expect(sources.text.contains("  @Attribute(storageMethod: .raw) var level: Level?\n"))
    #expect(
      sources.text.contains(
        """
        enum Mood: String, CaseIterable, Sendable {
          case value3Stars = "3 stars"
          case happy
          case soSo = "so so"
        }
        """))
    #expect(sources.text.contains("  case valueMinus1 = -1\n"))
    #expect(sources.text.contains("      Address(city: addressCity, street: addressStreet)\n"))
    let folder = try SourceFolder()
    _ = try Generation(sources, in: folder.url).run(isDryRun: false)
    #expect(try findings(folder, model, found) == [])
  }

  @Test("Few rows propose nothing")
  func fewRows() throws {
    let found = try configuration(bootstrap(rows: 4).text)
    #expect(found.proposals.enumerations.isEmpty)
  }

  @Test("An accepted proposal that does not fit the model is an error that names it")
  func unfit() throws {
    let model = try sourceModel(Self.entities)
    for (proposal, message) in [
      (
        #"{"entity": "Shop", "attribute": "isOpen", "swiftType": "X", "values": [1], "accepted": true}"#,
        "The model has no attribute Shop.isOpen of text or whole numbers."
      ),
      (
        #"{"entity": "Shop", "attribute": "mood", "swiftType": "X", "values": [1], "accepted": true}"#,
        "must be texts"
      ),
    ] {
      let found = try configuration(#"{"proposals": {"enumerations": [\#(proposal)]}}"#)
      let error = #expect(throws: ToolError.self) { try SourceGeneration(model, found).sources() }
      #expect(error?.message.contains(message) == true)
    }
  }
}
