import Testing

@Suite("Compositions")
struct CompositionTests {
  private func expand(_ members: String, _ head: String = "struct Place") -> Expansion {
    Expansion(
      "@Composition\n\(head) {\n"
        + members.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n") + "\n}")
  }

  @Test("A whole composition expands to exactly this")
  func whole() {
    let expansion = expand(
      """
      var latitude: Double = 0
      @CompositionField(persistentName: "n") var name: Swift.String?
      static var origin: Int { 0 }
      func f() {}
      """)
    #expect(expansion.messages.isEmpty, "\(expansion.messages.map(\.text))")
    #expect(
      expansion.contains(
        """
          nonisolated static let __cdRuntimeCompositionFields: [CDRuntimeCompositionFieldSchema] = [
            CDRuntimeCompositionFieldSchema(persistentName: "latitude", swiftTypeName: "Double", \
        primitiveType: .double, isOptional: false, defaultValueExpression: "0"),
            CDRuntimeCompositionFieldSchema(persistentName: "n", swiftTypeName: "Swift.String", \
        primitiveType: .string, isOptional: true, defaultValueExpression: nil),
          ]

          nonisolated static func __cdDecodeComposition(from __cdValues: [Swift.String: Any]) -> Self? {
            guard let latitude: Double = _cdPrimitive(__cdValues["latitude"]) else {
              return nil
            }
            let name: Swift.String? = _cdPrimitive(__cdValues["n"])
            return Self(latitude: latitude, name: name)
          }

          nonisolated var __cdEncodeComposition: [Swift.String: Any] {
            var __cdValues: [Swift.String: Any] = [:]
            __cdValues["latitude"] = self.latitude
            if let __cdValue = self.name {
              __cdValues["n"] = __cdValue
            }
            return __cdValues
          }

          nonisolated static func __cdPredicateKey(for keyPath: Swift.AnyKeyPath, after base: Swift.AnyKeyPath?) -> Swift.String? {
            func matches(_ field: Swift.PartialKeyPath<Self>, _ optionalField: Swift.PartialKeyPath<Self?>) -> Swift.Bool {
                  base.map { $0.appending(path: optionalField) == keyPath } ?? (keyPath == field)
            }
            if matches(\\.latitude, \\.?.latitude) {
              return "latitude"
            }
            if matches(\\.name, \\.?.name) {
              return "n"
            }
            return nil
          }

          nonisolated enum Paths {
            static let latitude = CDPath<Place, Double>(swiftPath: ["latitude"], persistentPath: \
        ["latitude"], storageMethod: .default)
            static let name = CDPath<Place, Swift.String?>(swiftPath: ["name"], persistentPath: ["n"], \
        storageMethod: .default)
          }

          nonisolated struct PathRoot: Swift.Sendable {
            var latitude: CDPath<Place, Double> {
              Paths.latitude
            }
            var name: CDPath<Place, Swift.String?> {
              Paths.name
            }
          }

          nonisolated static var path: PathRoot {
            PathRoot()
          }

          nonisolated static let __cdFieldTable: [Swift.String: CDFieldMeta] = __cdMakeFieldTable()

          private nonisolated static func __cdMakeFieldTable() -> [Swift.String: CDFieldMeta] {
            var table = CDFieldTableBuilder()
            table.attribute("latitude", "latitude")
            table.attribute("name", "n")
            return table.entries
          }
        }

        extension Place: nonisolated CDCompositionValueCodable {}

        extension Place: nonisolated CoreDataPathDSLProviding {}

        extension Place: nonisolated CDRuntimeCompositionSchemaProviding {}
        """), "\(expansion.text)")
  }

  @Test(
    "Members mirror the struct's access",
    arguments: [
      ("public struct", "public "), ("package struct", "package "), ("struct", ""),
      ("private struct", "fileprivate "), ("fileprivate struct", "fileprivate "),
    ])
  func access(head: String, prefix: String) {
    let expansion = expand("private var a: Int\nprivate(set) var b: Int = 0", "\(head) Place")
    #expect(expansion.messages.isEmpty)
    #expect(expansion.lines.contains("\(prefix)nonisolated var __cdEncodeComposition: [Swift.String: Any] {"))
  }

  private func check(
    _ expansion: Expansion, at node: String, _ text: String, fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      expansion.messages.count == 1, "\(expansion.messages.map(\.text))", sourceLocation: sourceLocation)
    guard let message = expansion.messages.first else { return }
    #expect(message.node == node && message.line != nil, "\(message.node)", sourceLocation: sourceLocation)
    #expect(message.text.contains(text), "\(message.text)", sourceLocation: sourceLocation)
    if let fixed {
      #expect(
        message.fixIts.first?.source.contains(fixed) == true, "\(message.fixIts)",
        sourceLocation: sourceLocation)
    }
    #expect(!expansion.text.contains("__cdDecodeComposition"), sourceLocation: sourceLocation)
  }

  @Test("Only structs without generic parameters are compositions")
  func types() {
    check(
      expand("var a: Int", "class Place"), at: "@Composition", "only be attached to a struct",
      fixed: "struct Place")
    check(expand("var a: Int", "enum Place"), at: "@Composition", "only be attached to a struct")
    check(
      expand("var a: Int", "struct Place<T>"), at: "<T>", "does not support generic structs",
      fixed: "struct Place {")
    check(expand("func f() {}"), at: "Place", "needs at least one field")
    let local = Expansion("func f() {\n@Composition struct P {\nvar a: Int\n}\n}")
    #expect(local.errors.contains { $0.contains("inside a function") })
  }

  @Test("Fields are stored variables of primitive types")
  func fields() {
    check(expand("let a: Int"), at: "let", "only processes `var` stored properties", fixed: "var a: Int")
    check(expand("var a: Int { 1 }"), at: "{ 1 }", "does not support computed properties")
    check(expand("lazy var a: Int = 1"), at: "lazy", "does not support lazy", fixed: "\n  var a: Int = 1")
    check(expand("var a: Status"), at: "Status", "field type is unsupported in v1")
    check(expand("var a: [Int]?"), at: "[Int]?", "field type is unsupported in v1")
    check(expand("var a = 1.5"), at: "a", "must declare its type", fixed: "var a: Double = 1.5")
    check(
      expand("var a, b: Int"), at: "var a, b: Int",
      "does not support declaring multiple stored properties in one `var` declaration",
      fixed: "var a: Int\n  var b: Int")
    check(
      expand("@State var a: Int"), at: "@State", "@CompositionField as their only attribute",
      fixed: "\n  var a: Int")
    check(
      expand("var a: Int\n@CompositionField(persistentName: \"a\") var b: Int"),
      at: "@CompositionField(persistentName: \"a\") var b: Int", "have the same persistent name `a`")
    check(expand("#if DEBUG\nvar a: Int\n#endif"), at: "#if DEBUG\n  var a: Int\n  #endif", "inside `#if`")
    check(
      expand("var a: Int\ninit() { a = 0 }"), at: "init", "replaces the memberwise one")
    #expect(expand("var a: Int\ninit(a: Int) { self.a = a }").messages.isEmpty)
  }

  @Test("Markers of fields stand on fields, with a literal name")
  func markers() {
    let misplaced = "@CompositionField can only be attached to a `var` property declaration"
    for declaration in ["func a() {}", "static var b: Int = 1"] {
      let expansion = expand("var c: Int\n@CompositionField \(declaration)")
      #expect(expansion.messages.count == 1 && expansion.errors[0].contains(misplaced))
      #expect(expansion.messages[0].fixIts[0].source.contains("\n  \(declaration)\n"))
    }
    for (argument, node, text) in [
      (
        "persistentName: name", "name",
        "@CompositionField argument `persistentName` must be a string literal or nil"
      ),
      ("persistentName: \"a b\"", "\"a b\"", "valid Core Data attribute name"),
      ("name: \"a\"", "name", "unknown argument label `name`"),
    ] {
      let expansion = expand("@CompositionField(\(argument)) var a: Int")
      #expect(expansion.messages.count == 1 && expansion.messages[0].node == node)
      #expect(expansion.errors[0].contains(text))
    }
    let outside = Expansion("struct Place {\n@CompositionField var a: Int\n}")
    #expect(outside.errors.count == 1 && outside.errors[0].contains("can only be used inside @Composition"))
  }
}
