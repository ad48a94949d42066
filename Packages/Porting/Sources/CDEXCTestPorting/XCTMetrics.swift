internal import Foundation
public import XCTest

/// What a measured test records. On Linux the time of the clock is recorded, whatever the metric.
public protocol XCTMetric {}

/// The time that a block takes.
public final class XCTClockMetric: XCTMetric {
  /// The time that a block takes.
  public init() {}
}

/// The work of the processor. The time of the clock is recorded.
public final class XCTCPUMetric: XCTMetric {
  /// The work of the processor.
  public init() {}
  /// The work of the processor for one thread.
  public init(limitingToCurrentThread: Bool) {}
}

/// The memory of the process. The time of the clock is recorded.
public final class XCTMemoryMetric: XCTMetric {
  /// The memory of the process.
  public init() {}
}

/// What is written to disks. The time of the clock is recorded.
public final class XCTStorageMetric: XCTMetric {
  /// What is written to disks.
  public init() {}
}

/// How often a block is measured. XCTest of Linux runs a block ten times.
public final class XCTMeasureOptions {
  /// When a measurement begins and ends.
  public struct InvocationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The block calls `startMeasuring()`.
    public static let manuallyStart = InvocationOptions(rawValue: 1)
    /// The block calls `stopMeasuring()`.
    public static let manuallyStop = InvocationOptions(rawValue: 2)
  }

  /// How often the block runs on Apple's platforms.
  public var iterationCount = 5
  /// When a measurement begins and ends.
  public var invocationOptions: InvocationOptions = []
  /// The usual options.
  public static var `default`: XCTMeasureOptions { XCTMeasureOptions() }
  /// The usual options.
  public init() {}
}

extension XCTestCase {
  /// The metrics of a test that names none.
  public class var defaultMetrics: [any XCTMetric] { [XCTClockMetric()] }

  /// Measures the time of a block.
  public func measure(metrics: [any XCTMetric], block: () -> Void) { measure(block: block) }

  /// Measures the time of a block.
  public func measure(options: XCTMeasureOptions, block: () -> Void) {
    measure(metrics: Self.defaultMetrics, options: options, block: block)
  }

  /// Measures the time of a block.
  public func measure(metrics: [any XCTMetric], options: XCTMeasureOptions, block: () -> Void) {
    measureMetrics(
      [.wallClockTime], automaticallyStartMeasuring: !options.invocationOptions.contains(.manuallyStart)
    ) { block() }
  }

  /// Waits for expectations without an end.
  public func wait(for expectations: [XCTestExpectation]) { wait(for: expectations, timeout: .infinity) }

  /// Waits for expectations in their order, without an end.
  public func wait(for expectations: [XCTestExpectation], enforceOrder: Bool) {
    wait(for: expectations, timeout: .infinity, enforceOrder: enforceOrder)
  }
}
