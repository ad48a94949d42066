import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

@Suite("Models of bundles")
struct BundleTests {
  @Test("The models of bundles are merged, and a compiled one is preferred to its source")
  func merging() throws {
    let url = try folder([
      "A/Shop.xcdatamodeld/Shop.xcdatamodel/contents": xml("<entity name=\"Source\"/>"),
      "A/Other.xcdatamodel/contents": xml("<entity name=\"Other\"/>"),
      "B/More.xcdatamodel/contents": xml("<entity name=\"More\"/><entity name=\"Other\"/>"),
      "C/Odd.xcdatamodel/contents": xml("<entity name=\"Other\" isAbstract=\"YES\"/>"),
      "D/Bad.mom": Data(),
    ])
    let compiled = try folder(["M.xcdatamodel/contents": xml("<entity name=\"Compiled\"/>")])
    try ModelCompiler.compile(
      compiled.appendingPathComponent("M.xcdatamodel"), to: url.appendingPathComponent("A/Shop.mom"))
    func bundle(_ name: String) throws -> Bundle {
      try #require(Bundle(url: url.appendingPathComponent(name)))
    }
    let model = try #require(
      NSManagedObjectModel.mergedModel(from: [try bundle("A"), try bundle("B")]))
    #expect(model.entities.compactMap(\.name).sorted() == ["Compiled", "More", "Other"])
    #expect(NSManagedObjectModel.mergedModel(from: [try bundle("A"), try bundle("C")]) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: [try bundle("D")]) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: [])?.entities.isEmpty == true)
    #expect(NSManagedObjectModel.mergedModel(from: nil)?.entities.isEmpty == true)
  }
}
