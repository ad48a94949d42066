import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Long chains of related objects", .ownThreads)
struct LongChainTests {
  private static let count = 20_000

  private func makeModel() -> NSManagedObjectModel {
    let node = entity("Node", nil, [attribute("name", .stringAttributeType)])
    connect(.one(node, "parent"), .many(node, "children"))
    point(.one(node, "former"), to: node)
    return model(node)
  }

  @Test("A saved chain is released on a small stack, with its context")
  func saved() throws {
    try onSmallStack {
      let stack = try Stack(model: makeModel())
      func write() throws {
        let context = stack.context()
        try context.performAndWait {
          var last = context.make("Node", ["name": "0"])
          for number in 1..<Self.count {
            let next = context.make("Node", ["name": "\(number)"])
            next.setValue(last, forKey: "parent")
            last = next
          }
          try context.save()
        }
      }
      try write()
      let context = stack.context()
      let count = try context.performAndWait {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node"))
      }
      #expect(count == Self.count)
    }
  }

  @Test("A chain without a context is released on a small stack")
  func loose() throws {
    try onSmallStack {
      let made = makeModel()
      let node = try #require(made.entitiesByName["Node"])
      weak var end: NSManagedObject?
      func build() {
        var last = NSManagedObject(entity: node, insertInto: nil)
        end = last
        for _ in 1..<Self.count {
          let next = NSManagedObject(entity: node, insertInto: nil)
          next.setValue(last, forKey: "former")
          last = next
        }
        #expect(end != nil)
      }
      build()
      #expect(end == nil)
    }
  }
}
