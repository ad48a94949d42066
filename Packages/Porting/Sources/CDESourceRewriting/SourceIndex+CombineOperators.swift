extension SourceIndex {
  /// Operators of Combine that OpenCombine lacks, for targets that name it: it has none that join several publishers but `zip`.
  ///
  /// They are a part of the target, as `publisher(for:)` is, and have types that do not depend on it for the same reason.
  func combineOperators() -> String {
    guard let combine = replacements["Combine"]?.first, combine == "OpenCombine" else { return "" }
    let latest = (2...4).map { Self.latest($0, combine) }.joined(separator: "\n\n")
    return """
      import Foundation

      \(latest)

      nonisolated extension \(combine).Publishers {
        /// Passes on what several publishers of one kind publish.
        struct MergeMany<Upstream: \(combine).Publisher>: \(combine).Publisher {
          typealias Output = Upstream.Output
          typealias Failure = Upstream.Failure
          let publishers: [Upstream]

          init(_ publishers: Upstream...) { self.publishers = publishers }
          init<S: Swift.Sequence>(_ publishers: S) where S.Element == Upstream { self.publishers = Array(publishers) }

          func merge(with other: Upstream) -> MergeMany { MergeMany(publishers + [other]) }

          func receive<S: \(combine).Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let join = _CDJoin(subscriber, count: publishers.count, keeps: nil) { $0[0] as! Output }
            subscriber.receive(subscription: join)
            for (index, publisher) in publishers.enumerated() { join.add(publisher, index) }
          }
        }

        /// Passes on what two publishers publish.
        struct Merge<A: \(combine).Publisher, B: \(combine).Publisher>: \(combine).Publisher
        where A.Output == B.Output, A.Failure == B.Failure {
          typealias Output = A.Output
          typealias Failure = A.Failure
          let a: A
          let b: B

          init(_ a: A, _ b: B) { self.a = a; self.b = b }

          func receive<S: \(combine).Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let join = _CDJoin(subscriber, count: 2, keeps: nil) { $0[0] as! Output }
            subscriber.receive(subscription: join)
            join.add(a, 0)
            join.add(b, 1)
          }
        }

        typealias Merge3<A: \(combine).Publisher, B: \(combine).Publisher, C: \(combine).Publisher> = Merge<Merge<A, B>, C>
        where A.Output == B.Output, A.Failure == B.Failure, A.Output == C.Output, A.Failure == C.Failure
      }

      nonisolated extension \(combine).Publishers.Merge {
        init<P, Q>(_ p: P, _ q: Q, _ r: B) where A == \(combine).Publishers.Merge<P, Q> { self.init(A(p, q), r) }
      }

      nonisolated extension \(combine).Publisher {
        func merge<P: \(combine).Publisher>(with other: P) -> \(combine).AnyPublisher<Output, Failure>
        where P.Output == Output, P.Failure == Failure { \(combine).Publishers.Merge(self, other).eraseToAnyPublisher() }

        func merge<B: \(combine).Publisher, C: \(combine).Publisher>(with b: B, _ c: C) -> \(combine).AnyPublisher<Output, Failure>
        where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure { merge(with: b).merge(with: c) }

        func merge<B: \(combine).Publisher, C: \(combine).Publisher, D: \(combine).Publisher>(
          with b: B, _ c: C, _ d: D
        ) -> \(combine).AnyPublisher<Output, Failure>
        where
          B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output, D.Failure == Failure
        { merge(with: b, c).merge(with: d) }
      }

      /// The subscription of a publisher that joins several. Values are passed on as they are asked for.
      nonisolated final class _CDJoin<Downstream: \(combine).Subscriber>: \(combine).Subscription, @unchecked Sendable {
        // Guard: `lock`, which may be taken again by a subscriber that asks for more.
        private let lock = NSRecursiveLock()
        private var downstream: Downstream?
        private var subscriptions: [Int: any \(combine).Subscription] = [:]
        private var demand = \(combine).Subscribers.Demand.none
        /// The last value of each publisher, if they are combined.
        private var latest: [Any?]?
        private var waiting: [Downstream.Input] = []
        private var unfinished: Int
        private let join: ([Any]) -> Downstream.Input

        /// - Parameter keeps: how many last values are joined into one, or nil to pass each value on.
        init(_ downstream: Downstream, count: Int, keeps: Int?, join: @escaping ([Any]) -> Downstream.Input) {
          self.downstream = downstream
          unfinished = count
          latest = keeps.map { Array(repeating: nil, count: $0) }
          self.join = join
        }

        func add<P: \(combine).Publisher>(_ publisher: P, _ index: Int) where P.Failure == Downstream.Failure {
          publisher.subscribe(
            \(combine).AnySubscriber<P.Output, P.Failure>(
              receiveSubscription: { self.start($0, index) },
              receiveValue: { self.take($0, index) },
              receiveCompletion: { self.finish($0) }))
        }

        func request(_ more: \(combine).Subscribers.Demand) {
          lock.lock()
          defer { lock.unlock() }
          demand += more
          flush()
        }

        func cancel() {
          lock.lock()
          let all = subscriptions.values
          subscriptions = [:]
          downstream = nil
          lock.unlock()
          for subscription in all { subscription.cancel() }
        }

        private func start(_ subscription: any \(combine).Subscription, _ index: Int) {
          lock.lock()
          let isCancelled = downstream == nil
          if !isCancelled { subscriptions[index] = subscription }
          lock.unlock()
          if isCancelled { subscription.cancel() } else { subscription.request(.unlimited) }
        }

        private func take(_ value: Any, _ index: Int) -> \(combine).Subscribers.Demand {
          lock.lock()
          defer { lock.unlock() }
          guard downstream != nil else { return .none }
          if latest != nil {
            latest![index] = value
            let values = latest!.compactMap { $0 }
            guard values.count == latest!.count else { return .none }
            // A subscriber that is late gets the last combination.
            waiting = [join(values)]
          } else {
            waiting.append(join([value]))
          }
          flush()
          return .none
        }

        private func flush() {
          while demand > 0, let downstream, !waiting.isEmpty {
            demand -= 1
            demand += downstream.receive(waiting.removeFirst())
          }
          guard unfinished == 0, waiting.isEmpty, let downstream else { return }
          self.downstream = nil
          downstream.receive(completion: .finished)
        }

        private func finish(_ completion: \(combine).Subscribers.Completion<Downstream.Failure>) {
          lock.lock()
          unfinished -= 1
          guard case .failure = completion else {
            flush()
            lock.unlock()
            return
          }
          let downstream = self.downstream
          lock.unlock()
          cancel()
          downstream?.receive(completion: completion)
        }
      }
      """
  }

  /// `CombineLatest` of several publishers, with the functions that make it.
  private static func latest(_ count: Int, _ combine: String) -> String {
    let all = Array(["A", "B", "C", "D"].prefix(count))
    let others = Array(all.dropFirst())
    let name = "CombineLatest\(count == 2 ? "" : "\(count)")"
    let parameters = all.map { "\($0): \(combine).Publisher" }.joined(separator: ", ")
    let rest = others.map { "\($0): \(combine).Publisher" }.joined(separator: ", ")
    let output = all.enumerated().map { "$0[\($0.offset)] as! \($0.element).Output" }.joined(separator: ", ")
    let arguments = others.map { "_ \($0.lowercased()): \($0)" }.joined(separator: ", ")
    let values = others.map { $0.lowercased() }.joined(separator: ", ")
    let failures = others.map { "\($0).Failure == Failure" }.joined(separator: ", ")
    let transformed = (["Output"] + others.map { "\($0).Output" }).joined(separator: ", ")
    let spread = (0..<count).map { "$0.\($0)" }
    return """
      nonisolated extension \(combine).Publishers {
        /// Publishes the last values of its publishers whenever one of them publishes.
        struct \(name)<\(parameters)>: \(combine).Publisher
        where \(others.map { "A.Failure == \($0).Failure" }.joined(separator: ", ")) {
          typealias Output = (\(all.map { "\($0).Output" }.joined(separator: ", ")))
          typealias Failure = A.Failure
          \(all.map { "let \($0.lowercased()): \($0)" }.joined(separator: "; "))

          init(\(all.map { "_ \($0.lowercased()): \($0)" }.joined(separator: ", "))) {
            \(all.map { "self.\($0.lowercased()) = \($0.lowercased())" }.joined(separator: "; "))
          }

          func receive<S: \(combine).Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let join = _CDJoin(subscriber, count: \(count), keeps: \(count)) { (\(output)) }
            subscriber.receive(subscription: join)
            \(all.enumerated().map { "join.add(\($0.element.lowercased()), \($0.offset))" }.joined(separator: "; "))
          }
        }
      }

      nonisolated extension \(combine).Publisher {
        func combineLatest<\(rest)>(\(arguments)) -> \(combine).AnyPublisher<(\(transformed)), Failure> where \(failures) {
          \(combine).Publishers.\(name)(self, \(values)).eraseToAnyPublisher()
        }

        func combineLatest<\(rest), T>(
          \(arguments), _ transform: @escaping (\(transformed)) -> T
        ) -> \(combine).AnyPublisher<T, Failure> where \(failures) {
          \(combine).Publishers.\(name)(self, \(values)).map { transform(\(spread.joined(separator: ", "))) }.eraseToAnyPublisher()
        }
      }
      """
  }
}
