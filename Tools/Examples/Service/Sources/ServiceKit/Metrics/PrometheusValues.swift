import Metrics
import Synchronization

final class PrometheusCounter: CounterHandler, PrometheusMetric {
  private let value = Atomic<Int64>(0)
  let type = "counter"

  func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  func write(_ key: PrometheusMetrics.Key, to text: inout String) {
    text += "\(key.name)\(key.labels) \(value.load(ordering: .relaxed))\n"
  }
}

final class PrometheusGauge: MeterHandler, RecorderHandler, PrometheusMetric {
  private let value = Mutex(0.0)
  let type = "gauge"

  func set(_ new: Int64) { set(Double(new)) }
  func set(_ new: Double) { value.withLock { $0 = new } }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }
  func record(_ new: Int64) { set(Double(new)) }
  func record(_ new: Double) { set(new) }

  func write(_ key: PrometheusMetrics.Key, to text: inout String) {
    text += "\(key.name)\(key.labels) \(value.withLock { $0 })\n"
  }
}

/// How many values were at most as large as each of some bounds.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusMetric {
  /// In seconds, for times.
  static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  private struct Values {
    var counts = [Int](repeating: 0, count: PrometheusHistogram.bounds.count + 1)
    var sum = 0.0
  }

  private let values = Mutex(Values())
  let type = "histogram"

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
    values.withLock { values in
      values.counts[bucket] += 1
      values.sum += value
    }
  }

  func write(_ key: PrometheusMetrics.Key, to text: inout String) {
    let values = values.withLock { $0 }
    let labels = key.labels.isEmpty ? "{" : key.labels.dropLast() + ","
    var count = 0
    for (bound, bucket) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], values.counts) {
      count += bucket
      text += "\(key.name)_bucket\(labels)le=\"\(bound)\"} \(count)\n"
    }
    text += "\(key.name)_sum\(key.labels) \(values.sum)\n\(key.name)_count\(key.labels) \(count)\n"
  }
}
