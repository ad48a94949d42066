import Metrics
import Synchronization

/// Keeps the values of all metrics in memory, and writes them as text for Prometheus.
public final class PrometheusMetrics: MetricsFactory {
  struct Key: Hashable, Comparable {
    let name: String
    /// The dimensions as the text shows them, such as `{method="GET"}`.
    let labels: String

    static func < (left: Key, right: Key) -> Bool { (left.name, left.labels) < (right.name, right.labels) }
  }

  private let values = Mutex<[Key: any PrometheusMetric]>([:])

  public init() {}

  /// All values in the text format, version 0.0.4.
  public var text: String {
    var text = ""
    var last = ""
    for (key, metric) in values.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      if key.name != last { text += "# TYPE \(key.name) \(metric.type)\n" }
      last = key.name
      metric.write(key, to: &text)
    }
    return text
  }

  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    metric(label, "_total", dimensions) { PrometheusCounter() }
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    metric(label, "", dimensions) { PrometheusGauge() }
  }

  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool)
    -> any RecorderHandler
  {
    if aggregate { return metric(label, "", dimensions) { PrometheusHistogram() } }
    return metric(label, "", dimensions) { PrometheusGauge() }
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    metric(label, "_seconds", dimensions) { PrometheusHistogram() }
  }

  // Values stay until the process ends: a counter that began anew would look like one of a new process.
  public func destroyCounter(_: any CounterHandler) {}
  public func destroyMeter(_: any MeterHandler) {}
  public func destroyRecorder(_: any RecorderHandler) {}
  public func destroyTimer(_: any TimerHandler) {}

  private func metric<Metric: PrometheusMetric>(
    _ label: String, _ suffix: String, _ dimensions: [(String, String)], _ make: () -> Metric
  ) -> Metric {
    let labels = dimensions.map { name, value in "\(Self.name(name))=\"\(Self.escaped(value))\"" }
    let key = Key(
      name: Self.name(label) + suffix, labels: labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
    return values.withLock { values in
      if let metric = values[key] as? Metric { return metric }
      let metric = make()
      values[key] = metric
      return metric
    }
  }

  private static func name(_ label: String) -> String {
    String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

/// The values of one name and one set of labels.
protocol PrometheusMetric: Sendable {
  var type: String { get }
  func write(_ key: PrometheusMetrics.Key, to text: inout String)
}
