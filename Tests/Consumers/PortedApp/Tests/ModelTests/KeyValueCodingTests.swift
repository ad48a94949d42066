//
//  KeyValueCodingTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class KeyValueCodingTests: ModelTestCase {

  func testValuesForKeys() {
    let trip = makeTrip("Alps")
    trip.setValue(3, forKey: "rating")
    XCTAssertEqual(trip.rating, 3)
    trip.setValue(true, forKey: #keyPath(Trip.isFavorite))
    XCTAssertTrue(trip.isFavorite)
    trip.setValue(nil, forKey: "notes")
    XCTAssertNil(trip.notes)
    XCTAssertEqual(trip.value(forKey: #keyPath(Trip.name)) as? String, "Alps")
    XCTAssertEqual(trip.value(forKey: "sortIndex") as? Int, 0)
    XCTAssertEqual((trip.value(forKey: "items") as? NSSet)?.count, 0)
    XCTAssertEqual(trip.primitiveValue(forKey: #keyPath(Trip.name)) as? String, "Alps")
  }

  func testValuesForKeyPaths() {
    let trip = makeTrip("Alps")
    trip.owner = makePerson("Messner")
    XCTAssertEqual(trip.value(forKeyPath: #keyPath(Trip.owner.lastName)) as? String, "Messner")
    trip.setValue("Kammerlander", forKeyPath: "owner.lastName")
    XCTAssertEqual(trip.owner?.lastName, "Kammerlander")
    trip.addToStops(Stop(name: "Zermatt", nights: 2, context: context))
    trip.addToStops(Stop(name: "Bern", nights: 3, context: context))
    XCTAssertEqual(trip.value(forKeyPath: "stops.@count") as? Int, 2)
    XCTAssertEqual(trip.value(forKeyPath: "stops.@sum.nights") as? Int, 5)
  }

  func testChangedAndCommittedValues() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    XCTAssertTrue(trip.changedValues().isEmpty)
    trip.name = "Andes"
    trip.owner = makePerson("Humboldt")
    XCTAssertEqual(Set(trip.changedValues().keys), [#keyPath(Trip.name), #keyPath(Trip.owner)])
    XCTAssertEqual(trip.changedValues()["name"] as? String, "Andes")
    XCTAssertEqual(trip.committedValues(forKeys: ["name"])["name"] as? String, "Alps")
    context.refresh(trip, mergeChanges: false)
    XCTAssertEqual(trip.name, "Alps")
    XCTAssertFalse(trip.hasPersistentChangedValues)
  }

  func testPersonCachesItsInitial() {
    let person = makePerson("curie", firstName: "Marie")
    XCTAssertEqual(person.initial, "C")
    XCTAssertEqual(person.primitiveValue(forKey: "initial") as? String, "C")
    person.lastName = "Skłodowska"
    XCTAssertEqual(person.initial, "S")
    XCTAssertEqual(person.value(forKey: #keyPath(Person.fullName)) as? String, "Marie Skłodowska")
    XCTAssertEqual(Person.keyPathsForValuesAffectingFullName(), ["firstName", "lastName"])
  }

  func testKeyPathsAreStrings() {
    XCTAssertEqual(#keyPath(Trip.owner.companions.email), "owner.companions.email")
    XCTAssertEqual(#keyPath(Trip.stops), "stops")
    XCTAssertEqual(#keyPath(TaskItem.trip.owner.lastName), "trip.owner.lastName")
  }

  func testEntitiesDescribeTheModel() throws {
    XCTAssertTrue(context.registeredObjects.isEmpty, "the container is loaded")
    let entity = Trip.entity()
    XCTAssertEqual(entity.name, "Trip")
    XCTAssertEqual(entity.attributesByName["rating"]?.attributeType, .integer16AttributeType)
    XCTAssertEqual(entity.attributesByName["name"]?.isOptional, false)
    XCTAssertEqual(entity.relationshipsByName["stops"]?.isOrdered, true)
    XCTAssertEqual(entity.relationshipsByName["stops"]?.deleteRule, .cascadeDeleteRule)
    XCTAssertEqual(entity.relationshipsByName["owner"]?.inverseRelationship?.name, "trips")
    XCTAssertEqual(entity.uniquenessConstraints as? [[String]], [["identifier"]])
    XCTAssertTrue(Item.entity().isAbstract)
    XCTAssertEqual(Set(Item.entity().subentities.compactMap { $0.name }), ["PackingItem", "TaskItem"])
    let named = NSEntityDescription.entity(forEntityName: "Trip", in: context)
    XCTAssertEqual(named?.managedObjectClassName, "Trip")
  }

  func testEveryEntityHasItsClass() {
    for entity in CoreDataStack.managedObjectModel.entities {
      let type: AnyClass? = NSClassFromString(entity.managedObjectClassName)
      XCTAssertNotNil(type, entity.managedObjectClassName)
      XCTAssertTrue(type is NSManagedObject.Type, entity.managedObjectClassName)
    }
  }

}
