import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Collections that are changed without being loaded")
struct UnloadedMembersTests {
  @Test("Hundreds of members added to and removed from collections not loaded, against plain sets")
  func manyUnloaded() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("unloaded members: seed \(seed)")
    var random = SplitMix(state: seed)
    let stack = try Stack()
    let context = stack.context()
    var (items, categories): ([Item], [Category]) = ([], [])
    for number in 0..<300 {
      let item = Item(context: context)
      item.count = number
      items.append(item)
    }
    for number in 0..<3 {
      let category = Category(context: context)
      category.name = "\(number)"
      categories.append(category)
    }
    try context.save()
    var owner: [Int: Int] = [:]
    for round in 0..<6 {
      for category in categories { context.refresh(category, mergeChanges: false) }
      for _ in 0..<(round % 2 == 0 ? 40 : 900) {
        let (item, place) = (Int.random(in: 0..<300, using: &random), Int.random(in: 0..<3, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          items[item].category = nil
          owner[item] = nil
        case 1:
          categories[place].removeFromItems(items[item])
          if owner[item] == place { owner[item] = nil }
        case 2:
          categories[place].addToItems(items[item])
          owner[item] = place
        default:
          items[item].category = categories[place]
          owner[item] = place
        }
      }
      func check(_ categories: [Category], _ when: String) {
        for (place, category) in categories.enumerated() {
          let wanted = Set(owner.filter { $0.value == place }.keys)
          #expect(Set(category.items.map(\.count)) == wanted, "\(when) of round \(round), seed \(seed)")
        }
      }
      if round > 2 { check(categories, "before the save") }
      try context.save()
      check(categories, "after the save")
      let request = Category.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let reader = stack.context()
      check(try reader.fetch(request), "in another context")
    }
  }
}
