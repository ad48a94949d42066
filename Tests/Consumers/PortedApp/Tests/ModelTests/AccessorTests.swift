//
//  AccessorTests.swift
//  TripsTests
//

import CoreData
import XCTest

@objc(Guest)
class Guest: NSManagedObject {

  @objc var email: String? {
    get {
      willAccessValue(forKey: "email")
      defer { didAccessValue(forKey: "email") }
      return primitiveValue(forKey: "email") as? String
    }
    set {
      willChangeValue(forKey: "email")
      defer { didChangeValue(forKey: "email") }
      setPrimitiveValue(newValue?.lowercased(), forKey: "email")
    }
  }

  @objc func initials() -> String {
    return String((email ?? "").prefix(1)).uppercased()
  }

  @objc var isKnown: Bool {
    return email != nil
  }

  @NSManaged var stamp: Int16
  @NSManaged var host: Guest?
  @NSManaged var visitors: Set<Guest>

}

@objc(Member)
@objcMembers
class Member: Guest {

  override var stamp: Int16 {
    get { return super.stamp * 10 }
    set { super.stamp = newValue + 1 }
  }

  override var visitors: Set<Guest> {
    get { return super.visitors }
    set { super.visitors = newValue.filter { $0.email != nil } }
  }

}

/// Accessors written by hand, which key-value coding calls.
final class AccessorTests: XCTestCase {

  private var context: NSManagedObjectContext!

  override func setUpWithError() throws {
    let guest = NSEntityDescription()
    guest.name = "Guest"
    guest.managedObjectClassName = "Guest"
    let email = NSAttributeDescription()
    email.name = "email"
    email.attributeType = .stringAttributeType
    email.isOptional = true
    let stamp = NSAttributeDescription()
    stamp.name = "stamp"
    stamp.attributeType = .integer16AttributeType
    stamp.defaultValue = 0
    let host = NSRelationshipDescription()
    host.name = "host"
    host.maxCount = 1
    host.isOptional = true
    let visitors = NSRelationshipDescription()
    visitors.name = "visitors"
    visitors.isOptional = true
    (host.destinationEntity, visitors.destinationEntity) = (guest, guest)
    (host.inverseRelationship, visitors.inverseRelationship) = (visitors, host)
    guest.properties = [email, stamp, host, visitors]
    let member = NSEntityDescription()
    member.name = "Member"
    member.managedObjectClassName = "Member"
    guest.subentities = [member]
    let model = NSManagedObjectModel()
    model.entities = [guest, member]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  func testKeyValueCodingCallsTheSetter() {
    let guest = Guest(context: context)
    guest.setValue("C@D", forKey: "email")
    XCTAssertEqual(guest.email, "c@d")
    guest.setValue("E@F", forKeyPath: "email")
    XCTAssertEqual(guest.email, "e@f")
    guest.setValuesForKeys(["email": "G@H", "stamp": 3])
    XCTAssertEqual(guest.email, "g@h")
    XCTAssertEqual(guest.stamp, 3)
    guest.setValue(nil, forKey: "email")
    XCTAssertNil(guest.email)
  }

  func testKeyValueCodingCallsAnOverride() {
    let member = Member(context: context)
    member.setValue(3, forKey: "stamp")
    XCTAssertEqual(member.primitiveValue(forKey: "stamp") as? Int, 4)
    XCTAssertEqual(member.value(forKey: "stamp") as? Int, 40)
    XCTAssertEqual(member.dictionaryWithValues(forKeys: ["stamp"])["stamp"] as? Int, 40)
    XCTAssertTrue(NSPredicate(format: "stamp == 40").evaluate(with: member))
    let (ann, bob) = (Guest(context: context), Guest(context: context))
    ann.email = "ann"
    member.setValue(NSSet(array: [ann, bob]), forKey: "visitors")
    XCTAssertEqual(member.visitors, [ann])
    XCTAssertEqual(ann.value(forKeyPath: "host.stamp") as? Int, 40)
  }

  func testMethodsAreKeys() {
    let guests = ["bob", "ann"].map { email -> Guest in
      let guest = Guest(context: context)
      guest.email = email
      return guest
    }
    XCTAssertEqual(guests[0].value(forKey: "initials") as? String, "B")
    XCTAssertEqual(guests[0].value(forKey: "known") as? Bool, true)
    guests[0].host = guests[1]
    XCTAssertEqual(guests[0].value(forKeyPath: "host.initials") as? String, "A")
    XCTAssertTrue(NSPredicate(format: "initials == 'A'").evaluate(with: guests[1]))
    let order = NSSortDescriptor(key: "initials", ascending: true)
    XCTAssertEqual((guests as NSArray).sortedArray(using: [order]).first as? Guest, guests[1])
  }

  func testObjectsAreSortedByTheGetter() {
    let members = [2, 1].map { (stamp: Int16) -> Member in
      let member = Member(context: context)
      member.stamp = stamp
      return member
    }
    let order = NSSortDescriptor(key: "stamp", ascending: true)
    XCTAssertEqual((members as NSArray).sortedArray(using: [order]).first as? Member, members[1])
  }

}
