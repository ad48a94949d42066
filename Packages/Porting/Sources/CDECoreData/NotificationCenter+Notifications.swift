public import Foundation

extension NotificationCenter {
  /// The notifications of a name, and of an object if one is given, as an asynchronous sequence.
  ///
  /// The sequence gets what is posted from the moment at which an iterator is made, and keeps what its reader has not read yet. It ends
  /// with the reader's task.
  ///
  /// - Parameters:
  ///   - name: the name of the notifications.
  ///   - object: the object that posts them; nil for any.
  public func notifications(
    named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
  ) -> Notifications {
    Notifications(center: self, name: name, object: object)
  }

  /// Notifications as an asynchronous sequence.
  public final class Notifications: AsyncSequence, Sendable {
    private let center: Unchecked<NotificationCenter>
    private let name: Notification.Name
    private let object: (any AnyObject & Sendable)?

    init(center: NotificationCenter, name: Notification.Name, object: (any AnyObject & Sendable)?) {
      (self.center, self.name, self.object) = (Unchecked(value: center), name, object)
    }

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(center.value, name, object) }

    /// Waits for the next notification.
    public final class Iterator: AsyncIteratorProtocol {
      private var notifications: AsyncStream<Unchecked<Notification>>.Iterator
      private let observation: Observation

      init(_ center: NotificationCenter, _ name: Notification.Name, _ object: (any AnyObject & Sendable)?) {
        let (stream, continuation) = AsyncStream.makeStream(of: Unchecked<Notification>.self)
        notifications = stream.makeAsyncIterator()
        let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
          continuation.yield(Unchecked(value: notification))
        }
        observation = Observation(center, token)
      }

      /// The next notification; nil when the task was cancelled.
      public func next() async -> Notification? { await notifications.next()?.value }
    }
  }
}

/// Removes an observer with its iterator.
private final class Observation {
  private let center: NotificationCenter
  private let token: any NSObjectProtocol

  init(_ center: NotificationCenter, _ token: any NSObjectProtocol) {
    (self.center, self.token) = (center, token)
  }

  deinit { center.removeObserver(token) }
}

/// What is passed from the poster of a notification to its reader, as Foundation's own sequence does.
private struct Unchecked<Value>: @unchecked Sendable {
  // Guard: notification centres may be used from any thread; a notification is a value, which its poster has finished.
  let value: Value
}
