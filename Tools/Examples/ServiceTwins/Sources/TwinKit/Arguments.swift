/// The options of a program, each with a value: `serve --store FILE --port 0`.
package struct Arguments: Sendable {
  private var values: [String: String] = [:]

  package struct Missing: Error { let option: String }

  package init(_ arguments: [String] = CommandLine.arguments) {
    for (option, value) in zip(arguments, arguments.dropFirst()) where option.hasPrefix("--") {
      values[String(option.dropFirst(2))] = value
    }
  }

  package subscript(option: String) -> String? { values[option] }

  package func required(_ option: String) throws -> String {
    guard let value = values[option] else { throw Missing(option: option) }
    return value
  }
}
