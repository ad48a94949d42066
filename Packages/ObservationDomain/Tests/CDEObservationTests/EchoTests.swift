import CDEModelRuntime
import Foundation
import Testing

@testable import CDEObservation

@Suite("Echoes: one commit merged more than once")
@MainActor
struct EchoTests {
  @Test("With suppression on, a repeated merge of an observed save wakes no reader")
  func swallowed() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == [:])
  }

  @Test("With suppression on, an echo is swallowed however many saves came between")
  func late() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "first" }
    let first = try #require(saves.last)
    for number in 0..<10 { try await stack.write(in: context) { $0.rank = number + 1 } }
    await stack.merged()
    #expect(readers.take() == ["title": 1, "rank": 10])
    stack.view.mergeChanges(fromContextDidSave: first)
    #expect(readers.take() == [:])
    #expect(stack.item.title == "first")
    #expect(stack.item.rank == 10)
  }

  @Test("With suppression on, the view context's own save merged back wakes no reader")
  func ownSave() throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    let saves = SaveLog(stack.view)
    stack.item.title = "new"
    try stack.view.save()
    #expect(readers.take() == ["title": 1])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("With suppression on, an unobserved save right after an observed one still wakes all properties")
  func notSwallowed() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.title = "new" }
    try await stack.write(in: stack.container.newBackgroundContext()) { $0.summary = "new" }
    await stack.merged()
    let expected = Dictionary(uniqueKeysWithValues: Readers.itemFields.map { ($0, $0 == "title" ? 2 : 1) })
    #expect(readers.take() == expected)
  }

  @Test("With suppression off, an echo wakes all properties")
  func off() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .off)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("Auto means on for a CloudKit container and off for others", arguments: [true, false])
  func auto(isCloud: Bool) async throws {
    let stack = try Stack(cloud: isCloud)
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let context = domain.newObservedBackgroundContext()
    let saves = SaveLog(context)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == (isCloud ? [] : Readers.itemFields))
  }

  @Test("A domain that never had a commit takes its late merge for the first")
  func newDomain() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    let readers = Readers(stack.item)
    let context = stack.container.newBackgroundContext()
    let saves = SaveLog(context)
    first.registerChangeProducer(context: context)
    let second = CDEObservationDomain(container: stack.container, preciseRouteEchoSuppression: .on)
    try await stack.write(in: context) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
    stack.view.mergeChanges(fromContextDidSave: try #require(saves.last))
    #expect(readers.take() == [:])
    withExtendedLifetime(second) {}
  }

  @Test("With a precision for every save, unregistered saves wake exactly too")
  func everySave() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(
      container: stack.container, preciseRouteEchoSuppression: .on, precision: .everySave)
    let readers = Readers(stack.item)
    try await stack.write(in: stack.container.newBackgroundContext()) { $0.summary = "new" }
    await stack.merged()
    #expect(readers.take() == ["summary": 1])
    withExtendedLifetime(domain) {}
  }
}
