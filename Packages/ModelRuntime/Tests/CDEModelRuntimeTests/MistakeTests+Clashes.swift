import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

extension MistakeTests {
  @Test("A second import whose object clashes with two rows over two constraints")
  func twoClashes() throws {
    let person = entity(
      "Person", nil,
      [
        attribute("name", .stringAttributeType), attribute("email", .stringAttributeType),
        attribute("note", .stringAttributeType),
      ])
    person.uniquenessConstraints = [["name"], ["email"]]
    let model = model(person)
    for type in [NSMergePolicyType.errorMergePolicyType] + NSMergePolicy.settling {
      let stack = try Stack(model: model)
      let first = stack.context()
      first.make("Person", ["name": "Ann", "email": "a@example.org"])
      first.make("Person", ["name": "Bob", "email": "b@example.org"])
      try first.save()
      let second = stack.context()
      second.mergePolicy = NSMergePolicy(merge: type)
      second.make("Person", ["name": "Ann", "email": "b@example.org", "note": "new"])
      second.make("Person", ["name": "Cid", "email": "c@example.org"])
      let text = message { try second.save() }
      let rows = try stack.context().all("Person", sort: "name").map { person in
        ["name", "email", "note"].map { person.value(forKey: $0) as? String ?? "-" }.joined(separator: " ")
      }
      switch type {
      case .errorMergePolicyType:
        #expect(
          text == "Another Person has the same name \"Ann\". Change the value, or set a mergePolicy. "
            + "1 more is in the way; constraintConflicts lists all.")
        #expect(rows == ["Ann a@example.org -", "Bob b@example.org -"])
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(text == "no error")
        #expect(rows == ["Ann a@example.org -", "Bob b@example.org -", "Cid c@example.org -"])
      default:
        // One object for what were two: the new one has taken the values of both.
        #expect(text == "no error")
        #expect(rows == ["Ann b@example.org new", "Cid c@example.org -"])
      }
    }
  }
}
