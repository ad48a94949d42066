import Combine
import CoreData

extension NSManagedObjectContext {
  /// How many objects each save inserted.
  public var insertions: AnyPublisher<Int, Never> {
    NotificationCenter.default.publisher(for: .NSManagedObjectContextDidSave, object: self)
      .compactMap { ($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count }
      .eraseToAnyPublisher()
  }

  /// Works in the context when its publisher is subscribed to.
  public func work<Value>(_ body: @escaping (NSManagedObjectContext) throws -> Value) -> AnyPublisher<
    Value, Error
  > {
    Deferred {
      Future { promise in
        self.perform { promise(Result { try body(self) }) }
      }
    }
    .eraseToAnyPublisher()
  }
}

/// Publishes the results of a request, and again whenever they change.
public struct Results<Entity: NSManagedObject>: Publisher {
  public typealias Output = [Entity]
  public typealias Failure = Error

  let request: NSFetchRequest<Entity>
  let context: NSManagedObjectContext

  public init(_ request: NSFetchRequest<Entity>, in context: NSManagedObjectContext) {
    self.request = request
    self.context = context
  }

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.receive(subscription: ResultsSubscription(subscriber, request, context))
  }
}

private final class ResultsSubscription<S: Subscriber, Entity: NSManagedObject>: NSObject, Subscription,
  NSFetchedResultsControllerDelegate
where S.Input == [Entity], S.Failure == Error {
  private var subscriber: S?
  private var controller: NSFetchedResultsController<Entity>?

  init(_ subscriber: S, _ request: NSFetchRequest<Entity>, _ context: NSManagedObjectContext) {
    self.subscriber = subscriber
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    controller?.delegate = self
  }

  func request(_ demand: Subscribers.Demand) {
    do {
      try controller?.performFetch()
      send()
    } catch {
      subscriber?.receive(completion: .failure(error))
    }
  }

  func cancel() {
    subscriber = nil
    controller = nil
  }

  private func send() { _ = subscriber?.receive(controller?.fetchedObjects ?? []) }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { send() }
}
