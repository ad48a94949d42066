extension SourceIndex {
  /// The function `publisher(for:)` of managed objects, for targets that name a module with Combine's interface.
  ///
  /// The library knows no such module, so the function is a part of the target. A test that imports the target with `@testable` sees two such
  /// functions. They have the same type, and Swift then prefers the test's own.
  func keyValuePublisher() -> String {
    guard let combine = replacements["Combine"]?.first else { return "" }
    return """
      import \(combine)

      nonisolated extension _KeyValueCodingAndObserving where Self: NSManagedObject {
        /// Publishes the values of a property: the present one at first, and a new one after each change.
        func publisher<Value>(
          for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
        ) -> \(combine).AnyPublisher<Value, Never> {
          _CDKeyValuePublisher(object: self, keyPath: keyPath, options: options).eraseToAnyPublisher()
        }
      }

      nonisolated struct _CDKeyValuePublisher<Object: NSManagedObject, Output>: \(combine).Publisher {
        typealias Failure = Never
        let object: Object
        let keyPath: KeyPath<Object, Output>
        let options: NSKeyValueObservingOptions

        func receive<Downstream: \(combine).Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Never {
          subscriber.receive(subscription: _CDKeyValueSubscription(object, keyPath, options, subscriber))
        }
      }

      /// Passes values on as they are asked for, and keeps the last one until then.
      nonisolated final class _CDKeyValueSubscription<Object: NSManagedObject, Downstream: \(combine).Subscriber>:
        \(combine).Subscription
      where Downstream.Failure == Never {
        private var observation: NSKeyValueObservation?
        private var downstream: Downstream?
        private var demand = \(combine).Subscribers.Demand.none
        private var waiting: Downstream.Input?

        init(
          _ object: Object, _ keyPath: KeyPath<Object, Downstream.Input>, _ options: NSKeyValueObservingOptions,
          _ downstream: Downstream
        ) {
          self.downstream = downstream
          if options.contains(.initial) { waiting = object[keyPath: keyPath] }
          observation = object.observe(keyPath) { [weak self] object, _ in self?.send(object[keyPath: keyPath]) }
        }

        func request(_ demand: \(combine).Subscribers.Demand) {
          self.demand += demand
          if let value = waiting, self.demand > 0 {
            waiting = nil
            send(value)
          }
        }

        func cancel() {
          observation?.invalidate()
          observation = nil
          downstream = nil
        }

        private func send(_ value: Downstream.Input) {
          guard let downstream else { return }
          guard demand > 0 else {
            waiting = value
            return
          }
          demand -= 1
          demand += downstream.receive(value)
        }
      }
      """
  }
}
