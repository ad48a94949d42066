import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

@Suite("Version hashes")
struct VersionHashTests {
  @Test("Every known entity gets Core Data's hash")
  func entities() throws {
    let vectors = try HashVectors.load().entityVectors
    #expect(vectors.count == 76)
    for vector in vectors {
      let builder = HashVectorBuilder()
      let entity = try builder.entity(vector.entity)
      #expect(
        entity.versionHash.base64EncodedString() == vector.hash, "\(vector.id) \(vector.entity.name)")
      withExtendedLifetime(builder) {}
    }
  }

  @Test("Every known model gets Core Data's digest and checksum")
  func models() throws {
    var (digests, checksums) = (0, 0)
    for vector in try HashVectors.load().modelVectors {
      let hashes = Dictionary(
        uniqueKeysWithValues: vector.entityHashes.map { ($0[0], Data(base64Encoded: $0[1])!) })
      if let digest = vector.digest {
        #expect(ModelHashes.digest(of: hashes) == digest, "\(vector.id)")
        digests += 1
      }
      if let checksum = vector.checksum {
        #expect(ModelHashes.checksum(of: hashes) == checksum, "\(vector.id)")
        checksums += 1
      }
    }
    #expect((digests, checksums) == (9, 3))
  }

  @Test(
    "A derivation hashes as its canonical text",
    arguments: [
      ("pages.@count", "count:(pages)"), (" count:( pages )", "count:(pages)"), ("now()", "now()"),
      ("chat.serverId", "chat.serverId"), ("canonical:(name)", "canonical:(name)"),
    ])
  func derivation(written: String, canonical: String) {
    let attribute = NSDerivedAttributeDescription()
    attribute.derivation = written
    #expect(attribute.canonicalDerivation == canonical)
    let other = NSDerivedAttributeDescription()
    other.derivation = canonical
    other.name = "elsewhere"
    #expect(attribute.versionHash == other.versionHash)
  }

  @Test("Defaults, delete rules, class names and user info leave the hash alone; names and types do not")
  func whatCounts() {
    let model = SampleModel()
    let hash = model.book.versionHash
    model.title.defaultValue = "Untitled"
    model.author.deleteRule = .denyDeleteRule
    model.book.managedObjectClassName = "App.Book"
    model.book.userInfo = ["a": 1]
    model.title.isIndexed = true
    #expect(model.book.versionHash == hash)
    model.title.attributeType = .integer64AttributeType
    let changed = model.book.versionHash
    #expect(changed != hash)
    model.book.uniquenessConstraints = [["title"]]
    #expect(model.book.versionHash != changed)
    #expect(model.novel.versionHash != hash)
  }

  @Test("The order of uniqueness constraints leaves the version hash alone, the order of their keys does not")
  func constraintOrder() {
    func hash(_ constraints: [[String]]) -> Data {
      let sample = SampleModel()
      sample.book.uniquenessConstraints = constraints
      return sample.book.versionHash
    }
    let sorted = hash([["author", "title"], ["pages"], ["title"]])
    #expect(hash([["title"], ["author", "title"], ["pages"]]) == sorted)
    #expect(hash([["pages"], ["title"], ["author", "title"]]) == sorted)
    #expect(hash([["title", "author"], ["pages"], ["title"]]) != sorted)
    #expect(hash([["author", "title"], ["pages"]]) != sorted)
  }

  @Test("A store's metadata fits exactly the model with the same hashes")
  func compatibility() {
    let sample = SampleModel()
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": sample.model.entityVersionHashesByName]
    #expect(sample.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    sample.model.setEntities([sample.book, sample.novel], forConfigurationName: "Books")
    #expect(sample.model.configurations == ["Books"])
    #expect(!sample.model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
    #expect(!sample.model.isConfiguration(withName: "None", compatibleWithStoreMetadata: metadata))
    #expect(!sample.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    sample.title.isOptional.toggle()
    #expect(!sample.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}
