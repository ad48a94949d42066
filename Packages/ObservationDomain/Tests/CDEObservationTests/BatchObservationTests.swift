import CDEModelRuntime
import CDEObservation
import Foundation
import Testing

@Suite("Batch requests and observation")
@MainActor
struct BatchObservationTests {
  private func update(_ values: [AnyHashable: Any], in stack: Stack) async throws -> [NSManagedObjectID] {
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.propertiesToUpdate = values
    request.resultType = .updatedObjectIDsResultType
    let result = try stack.container.newBackgroundContext().execute(request) as? NSBatchUpdateResult
    return try #require(result?.result as? [NSManagedObjectID])
  }

  private func delete(_ name: String, in stack: Stack) throws -> [NSManagedObjectID] {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    let result = try stack.container.newBackgroundContext().execute(request) as? NSBatchDeleteResult
    return try #require(result?.result as? [NSManagedObjectID])
  }

  private func merge(_ key: String, _ ids: [Any], _ stack: Stack) {
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [stack.view])
  }

  @Test("A batch wakes no reader until its IDs are merged")
  func unmerged() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, precision: .everySave)
    let readers = Readers(stack.item)
    _ = try await update(["title": "new"], in: stack)
    await stack.merged()
    #expect(readers.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("By default a merged batch update wakes all properties of its objects, and of no others")
  func fallback() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    merge(NSUpdatedObjectIDsKey, try await update(["title": "new"], in: stack), stack)
    #expect(ofItem.take() == Readers.itemFields)
    #expect(ofFolder.take() == [:])
    #expect(stack.item.title == "new")
    withExtendedLifetime(domain) {}
  }

  @Test("With precision for every save, a merged batch update wakes exactly what it set")
  func exactUpdate() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, precision: .everySave)
    let readers = Readers(stack.item)
    let ids = try await update(["title": "new", "item_rank": 4], in: stack)
    merge(NSUpdatedObjectIDsKey, ids, stack)
    #expect(readers.take() == ["title": 1, "rank": 1])
    #expect(stack.item.title == "new" && stack.item.rank == 4)
    withExtendedLifetime(domain) {}
  }

  @Test("With precision for every save, IDs made of URIs still wake all properties")
  func uris() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, precision: .everySave)
    let readers = Readers(stack.item)
    let ids = try await update(["title": "new"], in: stack)
    merge(NSUpdatedObjectIDsKey, ids.map { $0.uriRepresentation() }, stack)
    #expect(readers.take() == Readers.itemFields)
    withExtendedLifetime(domain) {}
  }

  @Test(
    "A merged batch deletion wakes the object once for everything, and its owner for the relationship alone",
    arguments: [CDEObservationPrecision.registeredProducers, .everySave])
  func deletion(precision: CDEObservationPrecision) async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, precision: precision)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    let ids = try delete("Item", in: stack)
    merge(NSDeletedObjectIDsKey, ids, stack)
    #expect(ofItem.take() == Dictionary(uniqueKeysWithValues: Readers.itemFields.map { ($0, 1) }))
    #expect(ofFolder.take() == ["items": 1, "itemsCount": 1])
    #expect(stack.folder.itemsCount == 0)
    merge(NSDeletedObjectIDsKey, ids, stack)
    #expect(ofItem.take() == [:])
    withExtendedLifetime(domain) {}
  }

  @Test("With precision for every save, what a batch deletion cleared wakes exactly")
  func nullified() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container, precision: .everySave)
    let readers = Readers(stack.item)
    merge(NSDeletedObjectIDsKey, try delete("Folder", in: stack), stack)
    #expect(readers.take() == ["folder": 1])
    #expect(stack.item.folder == nil)
    withExtendedLifetime(domain) {}
  }

  @Test("A merged batch insertion wakes no reader of other objects")
  func insertion() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let ofItem = Readers(stack.item)
    let ofFolder = Readers(stack.folder)
    let request = NSBatchInsertRequest(entityName: "Item", objects: [["title": "a"], ["title": "b"]])
    request.resultType = .objectIDs
    let result = try stack.container.newBackgroundContext().execute(request) as? NSBatchInsertResult
    merge(NSInsertedObjectIDsKey, try #require(result?.result as? [NSManagedObjectID]), stack)
    #expect(ofItem.take() == [:])
    #expect(ofFolder.take() == [:])
    withExtendedLifetime(domain) {}
  }
}
