//
//  RelationshipTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class RelationshipTests: ModelTestCase {

  func testOwnerKnowsItsTrips() {
    let person = makePerson("Noether")
    let trip = makeTrip("Göttingen")
    trip.owner = person
    XCTAssertEqual(person.trips, NSSet(object: trip))
    XCTAssertTrue(person.trips?.contains(trip) ?? false)
    trip.owner = nil
    XCTAssertEqual(person.trips?.count, 0)
  }

  func testAddingOneItemSetsItsTrip() {
    let trip = makeTrip("Alps")
    let rope = makePackingItem("Rope")
    trip.addToItems(rope)
    XCTAssertEqual(trip.items?.count, 1)
    XCTAssertTrue(rope.trip === trip)
    trip.removeFromItems(rope)
    XCTAssertEqual(trip.items?.count, 0)
    XCTAssertNil(rope.trip)
  }

  func testAddingSetsOfItems() {
    let trip = makeTrip("Alps")
    let items = [makePackingItem("Rope"), makePackingItem("Axe"), makePackingItem("Helmet")]
    trip.addToItems(NSSet(array: items))
    XCTAssertEqual(trip.sortedItems.map { $0.title }, ["Axe", "Helmet", "Rope"])
    trip.removeFromItems([items[0], items[1]] as NSSet)
    XCTAssertEqual(trip.items?.allObjects as? [Item], [items[2]])
    XCTAssertNil(items[0].trip)
  }

  func testReplacingTheSetOfItems() {
    let trip = makeTrip("Alps")
    let rope = makePackingItem("Rope")
    let axe = makePackingItem("Axe")
    trip.items = NSSet(object: rope)
    trip.items = [axe]
    XCTAssertNil(rope.trip)
    XCTAssertEqual(axe.trip, trip)
  }

  func testItemMovesFromOneTripToAnother() throws {
    let first = makeTrip("First")
    let second = makeTrip("Second")
    let item = makePackingItem("Tent")
    first.addToItems(item)
    try stack.save()
    second.addToItems(item)
    XCTAssertEqual(first.items?.count, 0)
    XCTAssertEqual(item.trip, second)
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(first.items?.count, 0)
    XCTAssertEqual(second.items?.count, 1)
  }

  func testTagsAndTripsAreManyToMany() throws {
    let sea = Tag(name: "sea", insertInto: context)
    let sun = Tag(name: "sun", insertInto: context)
    let crete = makeTrip("Crete")
    let naxos = makeTrip("Naxos")
    crete.tags = [sea, sun]
    naxos.addToTags(sea)
    XCTAssertEqual(sea.trips, [crete, naxos])
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(crete.tags, [sea, sun])
    XCTAssertEqual(sea.trips?.count, 2)
    crete.removeFromTags([sea, sun])
    XCTAssertEqual(sea.trips, [naxos])
    XCTAssertEqual(sun.trips?.isEmpty, true)
  }

  func testCompanionsAreMutual() throws {
    let ada = makePerson("Lovelace")
    let charles = makePerson("Babbage")
    ada.addToCompanions(charles)
    XCTAssertEqual(charles.companions, [ada])
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(ada.companions, [charles])
    charles.companions.remove(ada)
    XCTAssertTrue(ada.companions.isEmpty)
  }

  func testMutableSetIsALiveView() {
    let trip = makeTrip("Alps")
    let items = trip.mutableSetValue(forKey: #keyPath(Trip.items))
    let rope = makePackingItem("Rope")
    items.add(rope)
    XCTAssertEqual(rope.trip, trip)
    XCTAssertEqual(trip.items as? Set<Item>, [rope])
    items.remove(rope)
    XCTAssertNil(rope.trip)
  }

  func testItemsOfBothSubclassesStandInOneRelationship() throws {
    let trip = makeTrip("Alps")
    trip.addToItems(makePackingItem("Rope"))
    let visa = makeTask("Visa")
    trip.addToItems(visa)
    visa.assignee = makePerson("Curie")
    try stack.save()
    try inFreshContext { fresh in
      let items = try XCTUnwrap(try Trip.fetch(in: fresh).first).sortedItems
      XCTAssertEqual(items.map { $0.title }, ["Rope", "Visa"])
      XCTAssertTrue(items[0] is PackingItem)
      XCTAssertEqual((items[1] as? TaskItem)?.assignee?.lastName, "Curie")
    }
  }

  func testSetsCanBeFilteredAndCast() {
    let trip = makeTrip("Alps")
    trip.addToItems(makePackingItem("Rope", quantity: 2))
    trip.addToItems(makeTask("Visa"))
    let heavy = trip.items?.filtered(using: NSPredicate(format: "title BEGINSWITH %@", "R"))
    XCTAssertEqual(heavy?.count, 1)
    guard let items = trip.items as? Set<Item> else { return XCTFail("no set of items") }
    XCTAssertEqual(items.compactMap { $0 as? PackingItem }.map { $0.quantity }, [2])
    let names = (trip.items?.allObjects as? [Item] ?? []).map(\.title).sorted()
    XCTAssertEqual(names, ["Rope", "Visa"])
  }

}
