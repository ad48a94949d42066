@_spi(CDE) internal import CDEModelRuntime

/// Notes that can't be thrown to a caller.
enum ModelReport {
  static func send(_ message: String) { Diagnostics.report(message) }
}
