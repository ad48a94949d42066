import CDESwiftData
import Foundation
import Testing

enum Cellar {}

extension Cellar {
  /// With properties that managed objects and generated accessors have too.
  @Model
  final class Bottle {
    var isDeleted: Bool = false
    var hasChanges: Bool = false
    var hash: String = "h"
    var description: String = "d"
    var entity: String = "e"
    var objectID: Int = 3
    var `default`: Int = 4
    var `class`: String?
    var model: String = "m"
    var object: String = "o"
    var newValue: Int = 5
    var initialValue: Int = 6
    var tags = [String]()
    var counts: [Grape: Int] = [:]
    var duration: Duration = .seconds(1)
    var vintage = Vintage(year: 2020)
    var mixes = [Bottle]()
    @Relationship(inverse: \Cellar.Bottle.mixes) var parts: [Bottle] = []
    init() {}

    enum Grape: String, Codable { case red, white }

    struct Vintage: Codable, Hashable {
      var year: Int
      var label: String?
    }
  }
}

@Suite("Names of a model's properties")
struct ModelNameTests {
  @Test("A property may have the name of a member of managed objects, of a keyword or of the accessors")
  func names() throws {
    let context = ModelContext(try .inMemory(Cellar.Bottle.self))
    let bottle = Cellar.Bottle()
    (bottle.isDeleted, bottle.hash, bottle.entity, bottle.objectID) = (true, "z", "q", 9)
    (bottle.class, bottle.newValue, bottle.tags, bottle.counts) = ("k", 8, ["a"], [.white: 2])
    bottle.mixes = [Cellar.Bottle()]
    context.insert(bottle)
    try context.save()
    let other = ModelContext(context.container)
    let found = try #require(
      try other.fetch(
        FetchDescriptor<Cellar.Bottle>(predicate: #Predicate { $0.isDeleted && $0.objectID == 9 })
      ).first)
    #expect(found.isDeleted && !found.hasChanges && found.hash == "z" && found.entity == "q")
    #expect(found.class == "k" && found.newValue == 8 && found.initialValue == 6 && found.default == 4)
    #expect(found.description == "d" && found.model == "m" && found.object == "o")
    #expect(found.tags == ["a"] && found.counts == [.white: 2] && found.duration == .seconds(1))
    #expect(found.vintage == .init(year: 2020) && found.mixes.count == 1)
    #expect(found.mixes.first?.parts == [found])
    other.delete(found)
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<Cellar.Bottle>()) == 1)
  }
}
