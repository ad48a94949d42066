import CDEManagedModel
import Testing

@testable import CDESwiftData

@Suite("Inverses")
struct InverseTests {
  private func inverses(_ schema: Schema) throws -> [String: String] {
    var result: [String: String] = [:]
    for entity in try schema.managedObjectModel().entities {
      for (name, relationship) in entity.relationshipsByName {
        result["\(entity.name ?? "").\(name)"] = relationship.inverseRelationship.map {
          "\($0.entity?.name ?? "").\($0.name)"
        }
      }
    }
    return result
  }

  private func failure(of schema: Schema) throws -> SwiftDataError {
    try #require(throws: SwiftDataError.self) { try schema.managedObjectModel() }
  }

  enum Inferred {
    final class List: Sketch {
      var items: [Item] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("items", \List.items)] }
    }
    final class Item: Sketch {
      var list: List? { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("list", \Item.list)] }
    }
  }

  @Test("An inverse that is written nowhere is inferred from the only property that can be it")
  func inferred() throws {
    #expect(
      try inverses(Schema(Inferred.Item.self)) == ["List.items": "Item.list", "Item.list": "List.items"])
  }

  enum Written {
    final class Team: Sketch {
      var home: [Match] { absent() }
      var away: [Match] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [
          property("home", \Team.home, Schema.Relationship(inverse: \Match.host)),
          property("away", \Team.away, Schema.Relationship(inverse: \Match.guest)),
        ]
      }
    }
    final class Match: Sketch {
      var host: Team { absent() }
      var guest: Team { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [
          property("host", \Match.host),
          // Both sides may say it.
          property("guest", \Match.guest, Schema.Relationship(inverse: \Team.away)),
        ]
      }
    }
  }

  @Test("An inverse may be written on one side or on both")
  func written() throws {
    #expect(
      try inverses(Schema(Written.Match.self)) == [
        "Team.home": "Match.host", "Match.host": "Team.home", "Team.away": "Match.guest",
        "Match.guest": "Team.away",
      ])
  }

  enum Ambiguous {
    final class Team: Sketch {
      var matches: [Match] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("matches", \Team.matches)] }
    }
    final class Match: Sketch {
      var host: Team { absent() }
      var guest: Team { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("host", \Match.host), property("guest", \Match.guest)]
      }
    }
  }

  @Test("An inverse that two properties can be is an error that names both and the remedy")
  func ambiguous() throws {
    let error = try failure(of: Schema(Ambiguous.Match.self))
    #expect(error.code == .ambiguousInverse)
    #expect(
      error.message
        == "The inverse of Team.matches may be Match.host or Match.guest. Write which one it is: "
        + "@Relationship(inverse: \\Match.host) at Team.matches.")
  }

  enum Rest {
    final class Team: Sketch {
      var matches: [Match] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("matches", \Team.matches, Schema.Relationship(inverse: \Match.host))]
      }
    }
    final class Match: Sketch {
      var host: Team { absent() }
      var guest: Team? { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("host", \Match.host), property("guest", \Match.guest)]
      }
    }
  }

  @Test("A written inverse leaves the other property without one")
  func rest() throws {
    #expect(
      try inverses(Schema(Rest.Match.self)) == ["Team.matches": "Match.host", "Match.host": "Team.matches"])
  }

  enum Contested {
    final class Team: Sketch {
      var matches: [Match] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("matches", \Team.matches)] }
    }
    final class Match: Sketch {
      var host: Team { absent() }
      var guest: Team { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [
          property("host", \Match.host, Schema.Relationship(inverse: \Team.matches)),
          property("guest", \Match.guest, Schema.Relationship(inverse: \Team.matches)),
        ]
      }
    }
  }

  @Test("Two relationships with one inverse are an error that names all three")
  func contested() throws {
    let error = try failure(of: Schema(Contested.Team.self))
    #expect(error.code == .invalidInverse)
    for name in ["Match.guest", "Team.matches", "Match.host"] { #expect(error.message.contains(name)) }
  }

  enum Elsewhere {
    final class Team: Sketch {
      var coach: Coach? { absent() }
      var matches: [Match] { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("coach", \Team.coach), property("matches", \Team.matches)]
      }
    }
    final class Coach: Sketch {
      var name: String { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] { [property("name", \Coach.name)] }
    }
    final class Match: Sketch {
      var host: Team { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("host", \Match.host, Schema.Relationship(inverse: \Team.coach))]
      }
    }
    final class Cup: Sketch {
      var team: Team? { absent() }
      static var schemaMetadata: [Schema.PropertyMetadata] {
        [property("team", \Cup.team, Schema.Relationship(inverse: \Coach.name))]
      }
    }
  }

  @Test("An inverse that leads to another class, or to no relationship, is an error")
  func elsewhere() throws {
    let error = try failure(of: Schema(Elsewhere.Match.self))
    #expect(error.code == .invalidInverse)
    #expect(error.message.contains("Match.host has the inverse Team.coach, which leads to Coach."))
    let other = try failure(of: Schema(Elsewhere.Cup.self, Elsewhere.Coach.self))
    #expect(
      other.message.contains("Cup.team names a property as its inverse, which is no relationship of Team."))
  }

  final class Node: Sketch {
    var parent: Node? { absent() }
    var children: [Node] { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [property("parent", \Node.parent), property("children", \Node.children)]
    }
  }

  final class Person: Sketch {
    var mother: Person? { absent() }
    var father: Person? { absent() }
    var friends: [Person] { absent() }
    static var schemaMetadata: [Schema.PropertyMetadata] {
      [
        property("mother", \Person.mother), property("father", \Person.father),
        property("friends", \Person.friends, Schema.Relationship(inverse: \Person.friends)),
      ]
    }
  }

  @Test("Relationships of a class to itself: parent and children are inverses, mother and father are not")
  func itself() throws {
    #expect(
      try inverses(Schema(Node.self)) == ["Node.parent": "Node.children", "Node.children": "Node.parent"])
    #expect(try inverses(Schema(Person.self)) == ["Person.friends": "Person.friends"])
  }
}
