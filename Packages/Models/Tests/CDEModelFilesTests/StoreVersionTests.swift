import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

/// A program that migrates step by step asks for the version with which a store was made.
@Suite("The versions of stores in bundles")
struct StoreVersionTests {
  /// A model `Shop` of three versions and a model `Log`. The entity Tag never changes.
  private func files() throws -> URL {
    let tag = "<entity name=\"Tag\"><attribute name=\"name\" attributeType=\"String\"/></entity>"
    func version(_ attributes: String, _ rest: String = "") -> Data {
      xml("<entity name=\"Item\">\(attributes)</entity>" + tag + rest)
    }
    let title = "<attribute name=\"title\" attributeType=\"String\"/>"
    return try folder([
      "A/Shop.xcdatamodeld/.xccurrentversion": currentVersion("Shop 3.xcdatamodel"),
      "A/Shop.xcdatamodeld/Shop.xcdatamodel/contents": version(""),
      "A/Shop.xcdatamodeld/Shop 2.xcdatamodel/contents": version(title),
      "A/Shop.xcdatamodeld/Shop 3.xcdatamodel/contents": version(title, "<entity name=\"Added\"/>"),
      "A/Shop.xcdatamodeld/Bad.xcdatamodel/contents": Data("<model".utf8),
      "B/Log.xcdatamodel/contents": xml("<entity name=\"Line\"/>"),
    ])
  }

  private func model(_ path: String, in url: URL) throws -> NSManagedObjectModel {
    try NSManagedObjectModel(modelFile: url.appendingPathComponent(path))
  }

  private func metadata(_ hashes: [String: Data]) -> [String: Any] {
    ["NSStoreModelVersionHashes": hashes, "NSStoreUUID": "x"]
  }

  @Test("A bundle's model is the version with which the store was made")
  func versions() throws {
    let url = try files()
    let shop = url.appendingPathComponent("A/Shop.xcdatamodeld")
    let compiled = url.appendingPathComponent("C/Shop.momd")
    try FileManager.default.createDirectory(
      at: compiled.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.removeItem(at: shop.appendingPathComponent("Bad.xcdatamodel"))
    try ModelCompiler.compile(shop, to: compiled)
    for folder in ["A", "C"] {
      let bundle = try #require(Bundle(url: url.appendingPathComponent(folder)))
      for name in ["Shop", "Shop 2", "Shop 3"] {
        let wanted = try model("A/Shop.xcdatamodeld/\(name).xcdatamodel", in: url)
        let found = try #require(
          NSManagedObjectModel.mergedModel(
            from: [bundle], forStoreMetadata: metadata(wanted.entityVersionHashesByName)))
        #expect(found.entityVersionHashesByName == wanted.entityVersionHashesByName)
        #expect(
          found.isConfiguration(
            withName: nil, compatibleWithStoreMetadata: metadata(wanted.entityVersionHashesByName)))
      }
    }
  }

  @Test("Models of parts of a store are merged, and unreadable versions do not fit")
  func parts() throws {
    let url = try files()
    let bundles = try ["A", "B"].map { try #require(Bundle(url: url.appendingPathComponent($0))) }
    let second = try model("A/Shop.xcdatamodeld/Shop 2.xcdatamodel", in: url)
    let log = try model("B/Log.xcdatamodel", in: url)
    let hashes = second.entityVersionHashesByName.merging(log.entityVersionHashesByName) { first, _ in first }
    let found = try #require(
      NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata(hashes)))
    #expect(found.entityVersionHashesByName == hashes)
    #expect(NSManagedObjectModel.mergedModel(from: [bundles[0]], forStoreMetadata: metadata(hashes)) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata(hashes)) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata([:])) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: ["NSStoreUUID": "x"]) == nil)
    #expect(
      NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata(["Item": Data([1])])) == nil)
  }

  @Test("Of the models in memory, the smallest one is taken that has all entities of a part of a model")
  func models() throws {
    let url = try files()
    let names = ["Shop 3", "Shop 2", "Shop"]
    let models = try names.map { try model("A/Shop.xcdatamodeld/\($0).xcdatamodel", in: url) }
    let second = models[1].entityVersionHashesByName
    let exact = try #require(
      NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata(second)))
    #expect(exact.entityVersionHashesByName == second)
    #expect(exact !== models[1])
    // A configuration's store has a part of the entities. Both newer versions have this one.
    let item = try #require(second["Item"])
    let part = try #require(
      NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata(["Item": item])))
    #expect(part.entitiesByName.keys.sorted() == ["Item", "Tag"])
    #expect(NSManagedObjectModel(byMerging: [], forStoreMetadata: metadata(second)) == nil)
  }

  @Test("The checksums of all versions are those of the models")
  func checksums() throws {
    let url = try files()
    let shop = url.appendingPathComponent("A/Shop.xcdatamodeld")
    #expect(throws: ModelFileError.self) { try NSManagedObjectModel.checksumsForVersionedModel(at: shop) }
    try FileManager.default.removeItem(at: shop.appendingPathComponent("Bad.xcdatamodel"))
    let compiled = url.appendingPathComponent("Shop.momd")
    try ModelCompiler.compile(shop, to: compiled)
    let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: shop)
    #expect(checksums.keys.sorted() == ["Shop", "Shop 2", "Shop 3"])
    #expect(
      try checksums["Shop 2"] == model("A/Shop.xcdatamodeld/Shop 2.xcdatamodel", in: url).versionChecksum)
    #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: compiled) == checksums)
    #expect(throws: ModelFileError.self) {
      try NSManagedObjectModel.checksumsForVersionedModel(at: url.appendingPathComponent("No.momd"))
    }
  }
}
