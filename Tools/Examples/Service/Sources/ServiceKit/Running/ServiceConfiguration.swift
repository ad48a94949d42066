import CoreDataEvolution
import PackageModel

/// How a service runs.
public struct ServiceConfiguration: Sendable {
  /// Where the store is.
  public var place: IndexPlace
  public var host = "127.0.0.1"
  /// Zero for any free port.
  public var port = 8080
  /// How many requests read the store at once.
  public var readers = max(4, 2 * ProcessInfo.processInfo.activeProcessorCount)
  /// How many requests write to the store at once. SQLite writes one after the other, so more would only wait there.
  public var writers = 2
  /// How many connections to a server there are at most; nil for as many as the requests and the events need.
  public var connections: Int?
  /// How many requests of each kind wait.
  public var queue = 256
  /// How long they wait.
  public var queueTime = Duration.seconds(1)
  /// After which time a request that reads is answered by 504.
  public var readTime = Duration.seconds(5)
  /// How long a save waits for the locks of other processes.
  public var lockTime = Duration.seconds(5)
  /// How many clients follow the events at once.
  public var subscribers = 1_000
  /// How often a client that follows the events hears from the service at least.
  public var heartbeat = Duration.seconds(15)
  /// How long the history is kept. A client can go on reading the events after an absence of that length.
  public var historyAge = Duration.seconds(7 * 24 * 60 * 60)
  /// Whether a store of an older model is migrated at the start. Otherwise it is not opened.
  public var migrates = true
  /// How long the end of the service waits for requests that run.
  public var drainTime = Duration.seconds(20)

  public init(place: IndexPlace) { self.place = place }
}
