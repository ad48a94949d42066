import CDEModelRuntime
import CDEObservation
import Testing

@Suite("Saves of the view context")
@MainActor
struct ViewContextSaveTests {
  @Test("A save wakes the readers of exactly the changed properties, once, before it returns")
  func exact() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.item.title = "new"
    stack.item.rank = 3
    try stack.view.save()
    #expect(readers.take() == ["title": 1, "rank": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("A setter wakes no reader before the save")
  func setter() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.item.title = "draft"
    stack.view.processPendingChanges()
    #expect(readers.take() == [:])
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("A woken reader sees the saved value")
  func values() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = stack.item
    var seen: [String] = []
    let readers = Readers()
    readers.add("title") { seen.append(item.title) }
    item.title = "new"
    try stack.view.save()
    #expect(seen == ["old", "new"])
    withExtendedLifetime(domain) {}
  }

  @Test("A computed property wakes with each observed property it reads")
  func computed() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = stack.item
    let readers = Readers()
    readers.add("headline") { _ = item.headline }
    item.summary = "s"
    try stack.view.save()
    #expect(readers.take() == ["headline": 1])
    item.rank = 2
    try stack.view.save()
    #expect(readers.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A relationship change wakes both sides' relationships and the count, and nothing else")
  func relationships() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    stack.item.folder = nil
    try stack.view.save()
    #expect(ofItem.take() == ["folder": 1])
    #expect(ofFolder.take() == ["items": 1, "itemsCount": 1])
    let label = Label(context: stack.view)
    label.name = "l"
    stack.item.addToLabels(label)
    try stack.view.save()
    #expect(ofItem.take() == ["labels": 1, "labelsCount": 1])
    #expect(ofFolder.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A change of an object never wakes readers of related objects")
  func unrelated() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.folder)
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("A failed save wakes no reader; the save that succeeds wakes each reader once")
  func failure() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.item.title = Item.unwanted
    #expect(throws: (any Error).self) { try stack.view.save() }
    #expect(readers.take() == [:])
    #expect(stack.view.hasChanges)
    stack.item.title = "wanted"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("A transient property's change is no saved change")
  func transient() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    stack.item.draft = "d"
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("An object read before its first save wakes by that save and by later ones")
  func insertion() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let item = Item(context: stack.view)
    let readers = Readers(item)
    item.title = "first"
    try stack.view.save()
    #expect(!item.objectID.isTemporaryID)
    #expect(readers.take() == ["title": 1])
    item.title = "second"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(domain) {}
  }

  @Test("Models that did not opt in are saved and read as ever, and wake no reader")
  func notOptedIn() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let memo = Memo(context: stack.view)
    try stack.view.save()
    let readers = Readers()
    readers.add("text") { _ = memo.text }
    memo.text = "new"
    try stack.view.save()
    #expect(readers.take() == [:])
    #expect(memo.text == "new")
    withExtendedLifetime(domain) {}
  }

  @Test("Without a domain reads work and saves wake no reader")
  func withoutDomain() throws {
    let stack = try Stack()
    let readers = Readers(stack.item)
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == [:])
    #expect(stack.item.title == "new")
  }

  @Test(
    "A main-actor class saves the view context exactly, and leaves it dirty when that fails"
  )
  func mainActor() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let model = Screen(modelContainer: stack.container)
    let readers = Readers(stack.item)
    stack.item.title = Item.unwanted
    #expect(throws: (any Error).self) { try model.saveObservedChanges(in: domain) }
    #expect(stack.view.hasChanges)
    #expect(readers.take() == [:])
    stack.item.title = "new"
    try model.saveObservedChanges(in: domain)
    #expect(readers.take() == ["title": 1])
  }
}

@MainActor
@NSMainModelActor
final class Screen {}
