@_spi(CDE) import CDEModelRuntime
import Foundation
import Observation
import Testing

@testable import CDEObservation

@Suite("Domains and their ends")
@MainActor
struct DomainTests {
  @Test("A later domain takes over from an earlier one; ending the earlier changes nothing")
  func takeover() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    let second = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = second.newObservedBackgroundContext()
    first.invalidate()
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
  }

  @Test("After the current domain ended, none is current, and no reader wakes")
  func invalidate() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    let second = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    second.invalidate()
    second.invalidate()
    stack.item.title = "new"
    try stack.view.save()
    try await stack.write(in: first.newObservedBackgroundContext()) { $0.rank = 1 }
    await stack.merged()
    #expect(readers.take() == [:])
    #expect(stack.item.rank == 1)
  }

  @Test("Registering with an ended domain has no effect and keeps nothing")
  func registeringLate() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    first.invalidate()
    let context = first.newObservedBackgroundContext()
    #expect(first.producers.count == 0)
    let second = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
    withExtendedLifetime(second) {}
  }

  @Test("Readers that subscribed under one domain are woken by the next")
  func subscriptionsOutlive() throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    first.invalidate()
    let second = CDEObservationDomain(container: stack.container)
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(second) {}
  }

  @Test("A context registered with one domain is unregistered for another: they do not mix")
  func domainsDoNotMix() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    let context = first.newObservedBackgroundContext()
    let second = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
    second.registerChangeProducer(context: context)
    try await stack.write(in: context) { $0.rank = 2 }
    await stack.merged()
    #expect(readers.take() == ["rank": 1])
  }

  @Test("Domains of two containers observe each its own")
  func twoContainers() async throws {
    let one = try Stack()
    let two = try Stack()
    let first = CDEObservationDomain(container: one.container)
    let second = CDEObservationDomain(container: two.container)
    let ofOne = Readers(one.item)
    let ofTwo = Readers(two.item)
    try await one.write(in: first.newObservedBackgroundContext()) { $0.title = "new" }
    two.item.rank = 3
    try two.view.save()
    await one.merged()
    await two.merged()
    #expect(ofOne.take() == ["title": 1])
    #expect(ofTwo.take() == ["rank": 1])
    first.invalidate()
    two.item.rank = 4
    try two.view.save()
    #expect(ofTwo.take() == ["rank": 1])
    withExtendedLifetime(second) {}
  }

  @Test("The last reference to a domain may be dropped off the main actor; then no reader wakes")
  func releasedElsewhere() async throws {
    let stack = try Stack()
    let holder = Holder(CDEObservationDomain(container: stack.container))
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    holder.value?.registerChangeProducer(context: context)
    weak let domain = holder.value
    await Task.detached { holder.value = nil }.value
    #expect(domain == nil)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == [:])
    #expect(stack.view.observer == nil)
  }

  @Test("A domain that was ended off the main actor does not end its successor")
  func successor() async throws {
    let stack = try Stack()
    let holder = Holder(CDEObservationDomain(container: stack.container))
    let second = CDEObservationDomain(container: stack.container)
    await Task.detached { holder.value = nil }.value
    let readers = Readers(stack.item)
    await stack.merged()
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    withExtendedLifetime(second) {}
  }

  @Test("The domain keeps registrations until they are invalidated, and no context alive")
  func registrations() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    var context: NSManagedObjectContext? = domain.newObservedBackgroundContext()
    weak let goneContext = context
    weak let registration = domain.registerChangeProducer(context: context!)
    #expect(registration != nil)
    #expect(domain.producers.count == 2)
    context = nil
    #expect(goneContext == nil)
    registration?.invalidate()
    #expect(registration == nil)
    #expect(domain.producers.count == 1)
  }

  @Test("Registrations of contexts that are gone do not pile up")
  func pruning() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    for _ in 0..<1000 { _ = domain.newObservedBackgroundContext() }
    #expect(domain.producers.count <= 17)
  }

  @Test("Container, contexts, domain, registrations and observed objects are freed with their last reference")
  func leaks() async throws {
    let gone = try await useEverything()
    #expect(gone.domain == nil)
    #expect(gone.container == nil)
    #expect(gone.view == nil)
    #expect(gone.context == nil)
    #expect(gone.registration == nil)
    #expect(gone.item == nil)
  }

  private final class Token: Sendable {}

  @Test(
    "What tracks objects is released with them, although none of their properties has changed",
    arguments: [true, false])
  func tracking(keepsAnother: Bool) async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    // Tracked by something else, and kept.
    if keepsAnother {
      withObservationTracking {
        _ = stack.item.title
      } onChange: {
      }
    }
    weak var token: Token?
    weak var first: Item?
    func track() throws {
      let made = Token()
      token = made
      let items = (0..<3).map { _ in Item(context: stack.view) }
      try stack.view.save()
      first = items[0]
      withObservationTracking {
        for item in items { _ = item.title }
      } onChange: {
        _ = made
      }
    }
    try track()
    await stack.merged()
    #expect(first == nil)
    #expect(token == nil)
    withExtendedLifetime((domain, stack.item)) {}
  }

  private struct Remains {
    weak var domain: CDEObservationDomain?
    weak var container: NSPersistentContainer?
    weak var view: NSManagedObjectContext?
    weak var context: NSManagedObjectContext?
    weak var registration: CDEObservationProducerRegistration?
    weak var item: Item?
  }

  private func useEverything() async throws -> Remains {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let context = stack.container.newBackgroundContext()
    let registration = domain.registerChangeProducer(context: context)
    let item = stack.item
    let readers = Readers()
    readers.add("title") { [weak item] in _ = item?.title }
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    return Remains(
      domain: domain, container: stack.container, view: stack.view, context: context,
      registration: registration, item: item)
  }
}

/// Lets a test drop the last reference to something where it wants to.
final class Holder<Value: Sendable>: @unchecked Sendable {
  // Guard: `lock`.
  private let lock = NSLock()
  private var stored: Value?

  init(_ value: Value) { stored = value }

  var value: Value? {
    get { lock.withLock { stored } }
    set {
      // The old value ends after the lock is free again.
      let old = lock.withLock {
        defer { stored = newValue }
        return stored
      }
      withExtendedLifetime(old) {}
    }
  }
}
