import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@Suite("Fetched properties")
struct FetchedPropertyTests {
  private func stack(_ format: String?) throws -> Stack {
    let person = entity(
      "Person", nil, [attribute("name", .stringAttributeType), attribute("age", .integer32AttributeType)])
    let fetched = NSFetchedPropertyDescription()
    fetched.name = "namesakes"
    fetched.userInfo = ["limit": 50]
    if let format {
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
      request.predicate = NSPredicate(format: format)
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      fetched.fetchRequest = request
      #expect(fetched.fetchRequest?.entityName == "Person")
    }
    person.properties.append(fetched)
    return try Stack(model: model(person))
  }

  @Test(
    "The value is what the request finds for the object, with unsaved changes",
    arguments: [
      "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE",
      "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE AND age < $FETCHED_PROPERTY.userInfo.limit",
    ])
  func values(_ format: String) throws {
    let stack = try stack(format)
    let context = stack.context()
    let ann = context.make("Person", ["name": "Ann", "age": 1])
    let old = context.make("Person", ["name": "Ann", "age": 30])
    context.make("Person", ["name": "Bob", "age": 3])
    try context.save()
    let young = context.make("Person", ["name": "Ann", "age": 2])
    #expect(ann.value(forKey: "namesakes") as? [NSManagedObject] == [young, old])
    #expect(ann.value(forKeyPath: "namesakes.age") as? [Int] == [2, 30])
    #expect((young.value(forKey: "namesakes") as? [Any])?.count == 2)
    old.setValue("Bob", forKey: "name")
    #expect(ann.value(forKey: "namesakes") as? [NSManagedObject] == [young])
  }

  @Test("Without a request there is no result, and a failed fetch gives none")
  func nothing() throws {
    let context = try stack(nil).context()
    #expect((context.make("Person").value(forKey: "namesakes") as? [Any])?.isEmpty == true)
    let other = try stack("nothing == $FETCH_SOURCE").context()
    #expect((other.make("Person").value(forKey: "namesakes") as? [Any])?.isEmpty == true)
  }
}
