public import CDEProfiling
internal import Metrics

/// Gives the events of a profile to swift-metrics: a counter for each ``CDEProfileCounter``, a timer for each ``CDEProfileTimer``.
///
/// ```swift
/// var options = CDEProfile.Options()
/// options.counters = MetricsCounters()
/// CDEProfile.start(options)
/// ```
public struct MetricsCounters: CDEProfileCounters {
  private let counters: [CDEProfileCounter: Counter]
  private let timers: [CDEProfileTimer: Timer]

  /// Makes the metrics in the process's metrics system.
  ///
  /// - Parameters:
  ///   - prefix: what the names begin with.
  ///   - dimensions: the dimensions of all metrics.
  public init(prefix: String = "coredata_", dimensions: [(String, String)] = []) {
    counters = Dictionary(
      uniqueKeysWithValues: CDEProfileCounter.allCases.map {
        ($0, Counter(label: prefix + $0.rawValue, dimensions: dimensions))
      })
    timers = Dictionary(
      uniqueKeysWithValues: CDEProfileTimer.allCases.map {
        ($0, Timer(label: prefix + $0.rawValue + "_duration", dimensions: dimensions))
      })
  }

  public func add(_ amount: Int, to counter: CDEProfileCounter) { counters[counter]?.increment(by: amount) }

  public func record(_ duration: Duration, of timer: CDEProfileTimer) {
    timers[timer]?.record(duration: duration)
  }
}
