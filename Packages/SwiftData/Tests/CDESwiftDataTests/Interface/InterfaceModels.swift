import CDESwiftData
import Foundation

// The models that the tests of the interface use. Each annotation of these files is the signature that SwiftData declares: what has
// another one here does not compile.

@Model
final class Journey {
  #Unique<Journey>([\.name, \.start])
  #Index<Journey>([\.start], [\.name, \.start])
  @Attribute(.unique, originalName: "title", hashModifier: "2") var name: String
  var start: Date
  var end: Date
  var rating = 3
  var note: String?
  var address: Address?
  @Attribute(.externalStorage) var image: Data?
  @Relationship(
    deleteRule: .cascade, minimumModelCount: 0, maximumModelCount: 9, originalName: "places",
    inverse: \Halt.trip, hashModifier: "3") var stops: [Halt] = []
  @Relationship(deleteRule: .nullify) var companions: [Traveller]? = []
  var lead: Traveller?
  @Transient var isSelected = false

  init(name: String, start: Date = .distantPast, end: Date = .distantFuture) {
    self.name = name
    self.start = start
    self.end = end
  }

  struct Address: Codable, Equatable {
    var city = ""
    var zip = 0
  }
}

@Model
final class Halt {
  #Index<Halt>(.binary([\.number]), .rtree([\.latitude, \.longitude]))
  var number: Int
  var latitude = 0.0
  var longitude = 0.0
  var trip: Journey?

  init(number: Int, trip: Journey? = nil) {
    self.number = number
    self.trip = trip
  }
}

@Model
final class Traveller {
  var name: String
  @Relationship(inverse: \Journey.companions) var trips: [Journey] = []
  @Relationship(inverse: \Journey.lead) var ledTrips: [Journey] = []

  init(name: String) { self.name = name }
}

func isEquatable<T: Equatable>(_ type: T.Type) {}
func isHashable<T: Hashable>(_ type: T.Type) {}
func isCodable<T: Codable>(_ type: T.Type) {}
func isSendable<T: Sendable>(_ type: T.Type) {}
func isComparable<T: Comparable>(_ type: T.Type) {}
func isIdentifiable<T: Identifiable, ID>(_ type: T.Type, by id: ID.Type) where T.ID == ID {}
func isSchemaProperty<T: SchemaProperty>(_ type: T.Type) {}
func isRandomAccess<T: RandomAccessCollection, E>(_ type: T.Type, of element: E.Type) where T.Element == E {}
